# Texts of several lines, read by our parser and, where it is installed, by Terraform.
locals {
  plain = <<EOT
one
  two
EOT

  flush = <<-EOT
      one
        two

      three
    EOT

  flush_with_blank_of_spaces = <<-EOT
      one
   
      two
  EOT

  flush_over_interpolation = <<-EOT
      a ${"b"}
    ${"c"} d
      e
  EOT

  flush_tabs = <<-EOT
		one
			two
	EOT

  escapes = <<EOT
\n $${x} %%{y} $ % "quoted" ${"in\nside"}
EOT

  directives = <<EOT
%{ for x in ["a", "b"] }
- ${x}
%{ endfor }
end
EOT

  stripped = <<EOT
%{ for x in ["a", "b"] ~}
  - ${x}
%{ endfor ~}
end
EOT

  stripped_before = <<-EOT
    list:
    %{~ for x in ["a", "b"] ~}
      - ${x}
    %{~ endfor ~}
    end
  EOT

  nested = <<-EOT
    %{ for x in [1, 2, 3] ~}
    %{ if x % 2 == 1 ~}
    odd ${x}
    %{ else ~}
    even ${~ x ~} !
    %{ endif ~}
    %{ endfor ~}
  EOT

  lone_interpolation = <<EOT
${1 + 1}
EOT

  stripped_interpolation = <<-EOT
    ${~ "x" ~}
    EOT

  within_call = join("|", split("\n", <<-EOT
    a
    b
    EOT
  ))

  ends_without_newline = trimspace(<<EOT

  text

EOT
  )

  in_object = {
    a = <<EOT
x
EOT
    b = 1
  }

  empty = <<EOT
EOT

  marker_like = <<EOT
EOTX
 x EOT
EOT

  comments = [ # one
    1,        // two
    /* three */ 2,
  ]

  over_lines = (
    1
    + 2
  )

  conditional = (
    true
    ? "yes"
    : "no"
  )

  numbers = [1, 1.50, 1e3, 1E-2, 0.1]
}
