//! Python objects as a source for canonical JSON, read in place without conversion.

#![expect(
    unsafe_code,
    reason = "owning every key and value while it is read costs a quarter of the time, more for large ones"
)]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use pyo3::ffi;
use pyo3::prelude::*;
use reverie_core::Error;
use reverie_core::canonical::{self as json, Node, Source, Unrepresentable};

/// Return the canonical form of a Python object; subclasses are read by their built-in content.
pub(crate) fn canonical(value: &Bound<'_, PyAny>) -> Result<Vec<u8>, Error> {
    let _exclusive = ExclusiveInterpreter::new(value.py());
    json::canonical(Object { pointer: value.as_ptr(), owner: PhantomData })
}

/// A guard: while it lives, no Python code runs in this process unless it is called from here.
///
/// The interpreter lock is held for its whole lifetime (`'py`), and the garbage collector, which could call finalizers
/// whenever an exception is created, is off.
struct ExclusiveInterpreter<'py> {
    collecting: bool,
    lock: PhantomData<Python<'py>>,
}

impl<'py> ExclusiveInterpreter<'py> {
    fn new(_lock: Python<'py>) -> Self {
        // SAFETY: needs the interpreter lock only, which `_lock` proves.
        let collecting = unsafe { ffi::PyGC_Disable() } == 1;
        Self { collecting, lock: PhantomData }
    }
}

impl Drop for ExclusiveInterpreter<'_> {
    fn drop(&mut self) {
        if self.collecting {
            // SAFETY: needs the interpreter lock only, which `'py` proves.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

// In a free-threaded interpreter, whose objects have more than a count and a type, holding the lock would not stop
// other threads from changing objects: compilation fails there.
const _: () = assert!(size_of::<ffi::PyObject>() == 2 * size_of::<usize>());

/// A borrowed Python object.
///
/// # Safety of all blocks below
/// 1. An `Object` exists only while [`canonical`] runs. It is made there from the argument, which the caller owns
///    for that long, and in [`Items`] and [`Members`] from what a container holds that is itself an `Object`.
/// 2. A container releases its contents only when it is changed or freed, which takes Python code, or a thread that
///    has the interpreter lock. [`ExclusiveInterpreter`] excludes both, as long as nothing called from here runs
///    Python code.
/// 3. Nothing does. Types are compared by address or by the flags of the type, so that no `__instancecheck__` is
///    called. The functions called read the memory of the built-in type that was just found, subclass or not, and
///    call no method of the object. Only `PyUnicode_AsUTF8AndSize` allocates and can fail: it builds its exception
///    from built-in types, and clearing that frees nothing else.
/// 4. Therefore every pointer stays valid, and of its type, for `'s`, a lifetime within the call; and so does the
///    UTF-8 of a string, which belongs to the string.
#[derive(Clone, Copy)]
struct Object<'s> {
    pointer: *mut ffi::PyObject,
    owner: PhantomData<&'s ffi::PyObject>,
}

impl<'s> Source<'s> for Object<'s> {
    type Items = Items<'s>;
    type Members = Members<'s>;

    #[inline]
    fn node(self) -> Result<Node<'s, Self>, Unrepresentable> {
        // SAFETY: the object is valid (4), so that its type can be read.
        let kind = unsafe { ffi::Py_TYPE(self.pointer) };
        if kind == &raw mut ffi::PyUnicode_Type {
            return self.text().map(Node::Text);
        }
        if kind == &raw mut ffi::PyLong_Type {
            return self.integer().map(Node::Integer);
        }
        if kind == &raw mut ffi::PyDict_Type {
            return Ok(Node::Object(self.members()));
        }
        if kind == &raw mut ffi::PyList_Type {
            return Ok(Node::List(self.items(ffi::PyList_Size, ffi::PyList_GetItem)));
        }
        // SAFETY: `None`, `True` and `False` are there as long as the interpreter; they are only compared.
        let (none, truth, falsehood) = unsafe { (ffi::Py_None(), ffi::Py_True(), ffi::Py_False()) };
        if self.pointer == none {
            return Ok(Node::Null);
        }
        if self.pointer == truth || self.pointer == falsehood {
            return Ok(Node::Bool(self.pointer == truth));
        }
        if kind == &raw mut ffi::PyFloat_Type {
            return Ok(Node::Double(self.double()));
        }
        self.subclass_node(kind)
    }
}

impl<'s> Object<'s> {
    /// Classify tuples, and subclasses of all built-in types that can have them.
    #[cold]
    #[inline(never)]
    fn subclass_node(self, kind: *mut ffi::PyTypeObject) -> Result<Node<'s, Self>, Unrepresentable> {
        // SAFETY: the type of a valid object is valid, and its flags only have to be read.
        let flags = unsafe { ffi::PyType_GetFlags(kind) };
        if flags & ffi::Py_TPFLAGS_UNICODE_SUBCLASS != 0 {
            return self.text().map(Node::Text);
        }
        if flags & ffi::Py_TPFLAGS_LONG_SUBCLASS != 0 {
            return self.integer().map(Node::Integer);
        }
        if flags & ffi::Py_TPFLAGS_DICT_SUBCLASS != 0 {
            return Ok(Node::Object(self.members()));
        }
        if flags & ffi::Py_TPFLAGS_LIST_SUBCLASS != 0 {
            return Ok(Node::List(self.items(ffi::PyList_Size, ffi::PyList_GetItem)));
        }
        if flags & ffi::Py_TPFLAGS_TUPLE_SUBCLASS != 0 {
            return Ok(Node::List(self.items(ffi::PyTuple_Size, ffi::PyTuple_GetItem)));
        }
        // SAFETY: the object is valid (4), and its bases are only looked up.
        if unsafe { ffi::PyFloat_Check(self.pointer) } != 0 {
            return Ok(Node::Double(self.double()));
        }
        Err(Unrepresentable::NotJson)
    }

    /// Prefetch the memory of this object: most of the time is spent waiting for memory.
    fn prefetch(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint, which reads nothing that the program could see, and is allowed any address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.pointer.cast());
            _mm_prefetch::<_MM_HINT_T0>(self.pointer.wrapping_byte_add(64).cast());
        }
    }

    /// Return the UTF-8 of a string; the object must be one.
    fn text(self) -> Result<&'s str, Unrepresentable> {
        let mut length = 0;
        // SAFETY: the caller found a string, which is valid (4), and the length has a place.
        let bytes = unsafe { ffi::PyUnicode_AsUTF8AndSize(self.pointer, &raw mut length) };
        let Some(bytes) = NonNull::new(bytes.cast_mut()) else {
            // SAFETY: needs the interpreter lock only.
            unsafe { ffi::PyErr_Clear() };
            return Err(Unrepresentable::LoneSurrogate);
        };
        // SAFETY: this many bytes of UTF-8, which CPython encoded itself, without surrogates; they live and do not
        // change as long as the string does (4).
        Ok(unsafe {
            let bytes = std::slice::from_raw_parts(bytes.as_ptr().cast(), length.unsigned_abs());
            std::str::from_utf8_unchecked(bytes)
        })
    }

    /// Return the value of an integer; the object must be one.
    fn integer(self) -> Result<i64, Unrepresentable> {
        let mut beyond: c_int = 0;
        // SAFETY: the caller found an integer, which is valid (4): its value is read, `__index__` is not called.
        let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(self.pointer, &raw mut beyond) };
        if beyond == 0 { Ok(value) } else { Err(Unrepresentable::BeyondInteger) }
    }

    /// Return the value of a float; the object must be one.
    fn double(self) -> f64 {
        // SAFETY: the caller found a float, which is valid (4): its value is read, `__float__` is not called.
        unsafe { ffi::PyFloat_AsDouble(self.pointer) }
    }

    /// Iterate over a dictionary; the object must be one.
    fn members(self) -> Members<'s> {
        Members { map: self, at: 0 }
    }

    /// Iterate over a sequence with the functions of its type, which the object must have.
    fn items(self, size: SizeOf, item: ItemOf) -> Items<'s> {
        // SAFETY: the caller found a sequence of this kind, which is valid (4).
        let size = unsafe { size(self.pointer) };
        let mut items = Items { list: self, item, next: None, at: 0, size };
        items.next = items.read_ahead();
        items
    }
}

type SizeOf = unsafe extern "C" fn(*mut ffi::PyObject) -> ffi::Py_ssize_t;
type ItemOf = unsafe extern "C" fn(*mut ffi::PyObject, ffi::Py_ssize_t) -> *mut ffi::PyObject;

/// Iterator over the items of a list or tuple.
struct Items<'s> {
    list: Object<'s>,
    item: ItemOf,
    next: Option<Object<'s>>,
    at: ffi::Py_ssize_t,
    size: ffi::Py_ssize_t,
}

impl<'s> Items<'s> {
    /// Read the item after the next one, so that it is prefetched one item before it is needed.
    fn read_ahead(&mut self) -> Option<Object<'s>> {
        if self.at >= self.size {
            return None;
        }
        // SAFETY: a valid sequence of the kind that `item` is for (4), which still has the size it had.
        let pointer = unsafe { (self.item)(self.list.pointer, self.at) };
        self.at += 1;
        let item = Object { pointer, owner: PhantomData };
        item.prefetch();
        Some(item)
    }
}

impl<'s> Iterator for Items<'s> {
    type Item = Object<'s>;

    fn next(&mut self) -> Option<Object<'s>> {
        let read_ahead = self.read_ahead();
        std::mem::replace(&mut self.next, read_ahead)
    }
}

/// Iterator over the members of a dictionary.
struct Members<'s> {
    map: Object<'s>,
    at: ffi::Py_ssize_t,
}

impl<'s> Iterator for Members<'s> {
    type Item = Result<(&'s str, Object<'s>), Unrepresentable>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a valid dictionary (4) that does not change on the way, and a place for each of the three.
        let found = unsafe { ffi::PyDict_Next(self.map.pointer, &raw mut self.at, &raw mut key, &raw mut value) };
        if found == 0 {
            return None;
        }
        let [key, value] = [key, value].map(|pointer| Object { pointer, owner: PhantomData });
        value.prefetch();
        Some(key.key().map(|key| (key, value)))
    }
}

impl<'s> Object<'s> {
    /// Return the object as an object key, if it is a string.
    fn key(self) -> Result<&'s str, Unrepresentable> {
        // SAFETY: the object is valid (4), so that its type can be read.
        let kind = unsafe { ffi::Py_TYPE(self.pointer) };
        // SAFETY: as above; the flags only have to be read.
        let string = kind == &raw mut ffi::PyUnicode_Type
            || unsafe { ffi::PyType_GetFlags(kind) } & ffi::Py_TPFLAGS_UNICODE_SUBCLASS != 0;
        if string { self.text() } else { Err(Unrepresentable::KeyNotText) }
    }
}
