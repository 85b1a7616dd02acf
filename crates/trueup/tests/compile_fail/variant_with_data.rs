use trueup::FieldType;

#[derive(FieldType)]
enum Shape {
    Square,
    Circle(u64),
}

fn main() {}
