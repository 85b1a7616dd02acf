//! Indices of nodes and tasks, and lists that only their own kind of index opens.
//!
//! A node's index is never taken for a task's, nor for a count. Positions become indices in this file alone.

use std::marker::PhantomData;
use std::ops;
use std::slice;
use std::vec;

/// The place of a node among those of a draft.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct NodeIndex(u32);

/// The place of a task among those of a phase of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TaskIndex(u32);

/// One value for each node.
pub(crate) type PerNode<T> = Indexed<NodeIndex, T>;

/// One value for each task.
pub(crate) type PerTask<T> = Indexed<TaskIndex, T>;

/// A kind of index. Half the size of a `usize`: there is one for each end of each dependency.
pub(crate) trait ItemIndex: Copy + Ord {
    fn new(position: u32) -> Self;

    fn position(self) -> usize;
}

impl ItemIndex for NodeIndex {
    fn new(position: u32) -> Self {
        NodeIndex(position)
    }

    fn position(self) -> usize {
        self.0 as usize
    }
}

impl ItemIndex for TaskIndex {
    fn new(position: u32) -> Self {
        TaskIndex(position)
    }

    fn position(self) -> usize {
        self.0 as usize
    }
}

/// All indices of a list of this length.
pub(crate) fn indices<I: ItemIndex>(count: usize) -> impl DoubleEndedIterator<Item = I> + Clone {
    (0..narrow(count)).map(I::new)
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("a run has fewer than 2^32 nodes and tasks")
}

/// A list whose items are found by one kind of index.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Indexed<I, T> {
    items: Vec<T>,
    kind: PhantomData<I>,
}

impl<I: ItemIndex, T> Indexed<I, T> {
    /// This many items of the same value.
    pub(crate) fn filled(value: T, count: usize) -> Self
    where
        T: Clone,
    {
        Indexed::from(vec![value; count])
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn reserve_exact(&mut self, additional: usize) {
        self.items.reserve_exact(additional);
    }

    /// The index of the item that is pushed next.
    pub(crate) fn next_index(&self) -> I {
        I::new(narrow(self.items.len()))
    }

    pub(crate) fn push(&mut self, item: T) -> I {
        let index = self.next_index();
        self.items.push(item);
        index
    }

    pub(crate) fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.position())
    }

    pub(crate) fn iter(&self) -> slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All indices, in order.
    pub(crate) fn indices(&self) -> impl DoubleEndedIterator<Item = I> + Clone + use<I, T> {
        indices(self.items.len())
    }

    /// All items with their indices, in order.
    pub(crate) fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.indices().zip(&self.items)
    }
}

impl<I, T> Default for Indexed<I, T> {
    fn default() -> Self {
        Indexed::from(Vec::new())
    }
}

impl<I, T> From<Vec<T>> for Indexed<I, T> {
    fn from(items: Vec<T>) -> Self {
        Indexed { items, kind: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Indexed<I, T> {
    fn from_iter<Items: IntoIterator<Item = T>>(items: Items) -> Self {
        Indexed::from(Vec::from_iter(items))
    }
}

impl<I, T> IntoIterator for Indexed<I, T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Indexed<I, T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<'a, I, T> IntoIterator for &'a Indexed<I, T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I: ItemIndex, T> ops::Index<I> for Indexed<I, T> {
    type Output = T;

    fn index(&self, index: I) -> &T {
        &self.items[index.position()]
    }
}

impl<I: ItemIndex, T> ops::IndexMut<I> for Indexed<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.position()]
    }
}
