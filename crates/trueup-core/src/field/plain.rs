//! Plain Rust types as fields.

use std::path::PathBuf;

use smol_str::SmolStr;

use super::{FieldError, FieldSchema, FieldType};
use crate::schema::Constraint;
use crate::secret::Secret;
use crate::types::Type;
use crate::value::{Number, Value};

impl FieldType for bool {
    fn field_schema() -> FieldSchema {
        FieldSchema::plain(Type::Bool)
    }

    fn encode(&self) -> Result<Value, FieldError> {
        Ok(Value::from(*self))
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        value.as_bool().ok_or_else(|| FieldError::expected("a bool", value))
    }
}

/// Implements a field type for integers: exact, and within the type's range by constraint.
macro_rules! integer {
    ($($int:ty => $read:ident),*) => {$(
        impl FieldType for $int {
            fn field_schema() -> FieldSchema {
                let mut schema = FieldSchema::plain(Type::Number);
                let (min, max) = (Number::from(Self::MIN), Number::from(Self::MAX));
                schema.constraints = vec![Constraint::Integer, Constraint::Range { min: Some(min), max: Some(max) }];
                schema
            }

            fn encode(&self) -> Result<Value, FieldError> {
                Ok(Value::from(*self))
            }

            fn decode(value: &Value) -> Result<Self, FieldError> {
                let number = value.as_number().ok_or_else(|| FieldError::expected("a number", value))?;
                let int = number.$read().and_then(|int| Self::try_from(int).ok());
                int.ok_or_else(|| {
                    FieldError::new(format!("must be a whole number from {} to {}", Self::MIN, Self::MAX))
                })
            }
        }
    )*};
}
integer!(i8 => as_i64, i16 => as_i64, i32 => as_i64, i64 => as_i64);
integer!(u8 => as_u64, u16 => as_u64, u32 => as_u64, u64 => as_u64);

impl FieldType for f64 {
    fn field_schema() -> FieldSchema {
        let mut schema = FieldSchema::plain(Type::Number);
        let (min, max) = (Number::try_from(Self::MIN).ok(), Number::try_from(Self::MAX).ok());
        schema.constraints = vec![Constraint::Range { min, max }];
        schema
    }

    fn encode(&self) -> Result<Value, FieldError> {
        Number::try_from(*self).map(Value::number).map_err(|error| FieldError::new(error.to_string()))
    }

    /// A fraction becomes the nearest float, as people expect of floats; a whole number must be exact, because it may
    /// be an id.
    fn decode(value: &Value) -> Result<Self, FieldError> {
        let number = value.as_number().ok_or_else(|| FieldError::expected("a number", value))?;
        let nearest = number.nearest_f64();
        match number.as_f64() {
            Some(exact) => Ok(exact),
            None if nearest.is_finite() && !number.is_integer() => Ok(nearest),
            None => Err(FieldError::new("has more digits than a 64-bit float can hold")),
        }
    }
}

impl FieldType for Number {
    fn field_schema() -> FieldSchema {
        FieldSchema::plain(Type::Number)
    }

    fn encode(&self) -> Result<Value, FieldError> {
        Ok(Value::number(self.clone()))
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        value.as_number().cloned().ok_or_else(|| FieldError::expected("a number", value))
    }
}

macro_rules! text {
    ($($text:ty),*) => {$(
        impl FieldType for $text {
            fn field_schema() -> FieldSchema {
                FieldSchema::plain(Type::String)
            }

            fn encode(&self) -> Result<Value, FieldError> {
                Ok(Value::string(self.as_str()))
            }

            fn decode(value: &Value) -> Result<Self, FieldError> {
                value.as_str().map(Into::into).ok_or_else(|| FieldError::expected("a string", value))
            }
        }
    )*};
}
text!(String, SmolStr);

impl FieldType for PathBuf {
    fn field_schema() -> FieldSchema {
        FieldSchema::plain(Type::String)
    }

    fn encode(&self) -> Result<Value, FieldError> {
        self.to_str()
            .map(Value::from)
            .ok_or_else(|| FieldError::new("is a file name that is not valid UTF-8"))
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        String::decode(value).map(PathBuf::from)
    }
}

/// Any value, for what no Rust type describes.
impl FieldType for Value {
    fn field_schema() -> FieldSchema {
        FieldSchema::plain(Type::Any)
    }

    fn encode(&self) -> Result<Value, FieldError> {
        Ok(self.clone())
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        Ok(value.clone())
    }
}

impl<T: FieldType> FieldType for Option<T> {
    fn field_schema() -> FieldSchema {
        FieldSchema { optional: true, ..T::field_schema() }
    }

    fn encode(&self) -> Result<Value, FieldError> {
        self.as_ref().map_or(Ok(Value::NULL), T::encode)
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        if value.is_null() { Ok(None) } else { T::decode(value).map(Some) }
    }
}

impl<T: FieldType> FieldType for Box<T> {
    fn field_schema() -> FieldSchema {
        T::field_schema()
    }

    fn encode(&self) -> Result<Value, FieldError> {
        T::encode(self)
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        T::decode(value).map(Box::new)
    }
}

impl<T: FieldType> FieldType for Secret<T> {
    fn field_schema() -> FieldSchema {
        FieldSchema { secret: true, ..T::field_schema() }
    }

    fn encode(&self) -> Result<Value, FieldError> {
        self.expose().encode().map(Value::into_secret)
    }

    fn decode(value: &Value) -> Result<Self, FieldError> {
        T::decode(value).map(Secret::new)
    }
}
