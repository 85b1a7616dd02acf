//! Messages on the wire: each stands behind five bytes, a compression flag and its length.

use prost::bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{Code, Status};

const PREFIX_SIZE: usize = 5;

/// A message behind its prefix.
pub(super) fn frame(message: &[u8], message_size_max: usize) -> Result<Bytes, Status> {
    let size = u32::try_from(message.len()).ok().filter(|_| message.len() <= message_size_max);
    let Some(size) = size else {
        // An invalid argument, because nothing is sent: the call has no effect.
        let text = format!("the request is larger than {} MiB", message_size_max >> 20);
        return Err(Status::new(Code::InvalidArgument, text));
    };
    let mut framed = BytesMut::with_capacity(PREFIX_SIZE + message.len());
    framed.put_u8(0);
    framed.put_u32(size);
    framed.put_slice(message);
    Ok(framed.freeze())
}

/// Cuts a stream of bytes into messages. Never holds more than one message and the chunk that completed it, if the
/// caller takes all messages out before it pushes the next chunk.
pub(super) struct Deframer {
    buffer: BytesMut,
    /// The size of the message that the buffer begins with, once its prefix is there.
    message_size: Option<usize>,
    message_size_max: usize,
}

impl Deframer {
    pub(super) fn new(message_size_max: usize) -> Self {
        Deframer { buffer: BytesMut::new(), message_size: None, message_size_max }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next message, if all of it is there.
    pub(super) fn take(&mut self) -> Result<Option<Bytes>, Status> {
        let size = match self.message_size {
            Some(size) => size,
            None if self.buffer.len() < PREFIX_SIZE => return Ok(None),
            None => self.take_prefix()?,
        };
        if self.buffer.len() < size {
            return Ok(None);
        }
        self.message_size = None;
        Ok(Some(self.buffer.split_to(size).freeze()))
    }

    /// Whether no message is incomplete.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.message_size.is_none()
    }

    fn take_prefix(&mut self) -> Result<usize, Status> {
        match self.buffer.get_u8() {
            0 => {}
            1 => {
                return Err(Status::new(Code::Internal, "its answer is compressed, which was not asked for"));
            }
            _ => return Err(Status::new(Code::Internal, "its answer is not gRPC")),
        }
        let size = usize::try_from(self.buffer.get_u32()).unwrap_or(usize::MAX);
        if size > self.message_size_max {
            let text = format!("its answer is larger than {} MiB", self.message_size_max >> 20);
            return Err(Status::new(Code::ResourceExhausted, text));
        }
        // Schemas have megabytes, and come in chunks of kilobytes.
        self.buffer.reserve(size.saturating_sub(self.buffer.len()));
        self.message_size = Some(size);
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 2 << 20;

    fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
        messages.iter().flat_map(|message| frame(message, MAX).unwrap()).collect()
    }

    fn messages<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(Vec<Bytes>, bool), Status> {
        let mut deframer = Deframer::new(MAX);
        let mut found = Vec::new();
        for chunk in chunks {
            deframer.push(chunk);
            while let Some(message) = deframer.take()? {
                found.push(message);
            }
        }
        Ok((found, deframer.is_empty()))
    }

    #[test]
    fn a_message_is_found_however_its_bytes_arrive() {
        let bytes = frame(b"message", MAX).unwrap();
        assert_eq!(bytes[..], *b"\0\0\0\0\x07message");
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(messages([first, second]).unwrap(), (vec![Bytes::from("message")], true));
        }
        let one_by_one = messages(bytes.chunks(1)).unwrap();
        assert_eq!(one_by_one, (vec![Bytes::from("message")], true));
    }

    #[test]
    fn a_chunk_can_hold_several_messages_and_the_start_of_another() {
        let mut bytes = framed(&[b"one".to_vec(), Vec::new(), b"two".to_vec()]);
        let whole = vec![Bytes::from("one"), Bytes::new(), Bytes::from("two")];
        assert_eq!(messages([&*bytes]).unwrap(), (whole.clone(), true));
        bytes.extend(b"\0\0\0\0\x01");
        assert_eq!(messages([&*bytes]).unwrap(), (whole.clone(), false));
        bytes.truncate(bytes.len() - 3);
        assert_eq!(messages([&*bytes]).unwrap(), (whole, false));
    }

    #[test]
    fn a_message_up_to_the_limit_is_taken_and_a_larger_one_refused_by_its_prefix() {
        let largest = vec![7; MAX];
        let (found, complete) = messages(framed(std::slice::from_ref(&largest)).chunks(16 << 10)).unwrap();
        assert!(complete && found == [largest]);
        let size = u32::try_from(MAX + 1).unwrap().to_be_bytes();
        for size in [size, u32::MAX.to_be_bytes()] {
            let refused = messages([&[0][..], &size]).unwrap_err();
            assert_eq!(refused, Status::new(Code::ResourceExhausted, "its answer is larger than 2 MiB"));
        }
        let refused = frame(&vec![0; MAX + 1], MAX).unwrap_err();
        assert_eq!(refused, Status::new(Code::InvalidArgument, "the request is larger than 2 MiB"));
    }

    #[test]
    fn compressed_messages_and_other_protocols_are_refused() {
        let refused = |bytes: &[u8]| messages([bytes]).unwrap_err().to_string();
        assert_eq!(refused(b"\x01\0\0\0\0"), "its answer is compressed, which was not asked for");
        assert_eq!(refused(b"<html>"), "its answer is not gRPC");
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            sent in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
            chunk_size in 1_usize..50,
        ) {
            let bytes = framed(&sent);
            let (found, complete) = messages(bytes.chunks(chunk_size)).unwrap();
            prop_assert!(complete);
            prop_assert_eq!(found, sent);
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(0_u8..3, 0..200)) {
            let _ = messages([&*bytes]);
        }
    }
}
