# Answers as if it kept something, with the secret that it was given.
echo "{\"name\": \"$TRUEUP_NAME\", \"secret\": \"${TOKEN:-none}\"}"
