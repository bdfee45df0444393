// SPDX-License-Identifier: Apache-2.0
//! The module that a plugin exports: the macro [`plugin!`](crate::plugin!) and its parts.

use std::ptr;
use std::time::Duration;

use crate::abi::*;
use crate::boundary::stride_of;
use crate::plugin::{Advisor, ExternalAdvisor, QosStrategy, RuntimeHook};
use crate::thunks::Table;

/// Definition of a class in [`plugin!`].
pub struct ClassSpec {
    /// Unique in the module.
    pub name: &'static str,
    /// Period between ticks, unless the configuration sets it. Zero: no ticks.
    pub period: Duration,
    /// JSON Schema for koord.config/1, checked before init(). If left out, nothing is checked.
    pub config_schema: &'static str,
    /// `KOORD_SERIAL`, or 0.
    pub flags: u32,
}

impl ClassSpec {
    #[doc(hidden)]
    pub const NOTHING: ClassSpec = ClassSpec { name: "\0", period: Duration::ZERO, config_schema: "\0", flags: 0 };

    // `kind` ends with NUL, like the texts of the class that plugin! creates.
    const fn class(self, kind: &'static str, vtable: *const koord_lifecycle) -> koord_class {
        let no_schema = self.config_schema.len() == 1;
        koord_class {
            struct_size: stride_of::<koord_class>(),
            flags: self.flags,
            kind: kind.as_ptr().cast(),
            name: self.name.as_ptr().cast(),
            config_schema: if no_schema { ptr::null() } else { self.config_schema.as_ptr().cast() },
            vtable,
            period_ns: self.period.as_nanos() as u64,
        }
    }
}

/// The four kinds of plugins by their keywords in [`plugin!`].
#[doc(hidden)]
#[allow(missing_docs)]
pub mod kinds {
    use super::*;

    pub const fn advisor<T: Advisor>(spec: ClassSpec) -> koord_class {
        spec.class("koord.advisor/1\0", &Table::<T>::ADVISOR.life)
    }
    pub const fn external_advisor<T: ExternalAdvisor>(spec: ClassSpec) -> koord_class {
        spec.class("koord.external-advisor/1\0", &Table::<T>::EXTERNAL_ADVISOR.life)
    }
    pub const fn qos_strategy<T: QosStrategy>(spec: ClassSpec) -> koord_class {
        spec.class("koord.qos-strategy/1\0", &Table::<T>::QOS_STRATEGY.life)
    }
    pub const fn runtime_hook<T: RuntimeHook>(spec: ClassSpec) -> koord_class {
        spec.class("koord.runtime-hook/1\0", &Table::<T>::RUNTIME_HOOK.life)
    }
}

// SAFETY: a module is a constant, like everything that it points to.
unsafe impl Sync for koord_module {}

/// Defines the module: the manifest's lines (the first line and `abi` are added), then its classes. Use it once in a
/// .so.
///
/// ```ignore
/// koordetector::plugin! {
///     manifest: "id=org.example.hello\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Hello\nrequires=koord.metrics/1\n",
///     advisor Hello { name: "hello", period: Duration::from_secs(1) }
/// }
/// ```
/// The other kinds are `external_advisor`, `qos_strategy`, `runtime_hook`; [`ClassSpec`] has the fields.
#[macro_export]
macro_rules! plugin {
    (manifest: $lines:expr, $($kind:ident $plugin:ty { $($field:ident: $value:expr),+ $(,)? })+) => {
        #[cfg(panic = "abort")]
        compile_error!("a plugin must be built with panic=unwind: a panic that aborts takes the whole agent along");

        const _: () = {
            use $crate::abi::*;

            const TEXT: &str = concat!("koord-manifest/1\nabi=1.1\n", $lines, "\0");
            #[used]
            #[link_section = ".koord_manifest"]
            static MANIFEST: [u8; TEXT.len()] = unsafe { *TEXT.as_ptr().cast() };

            const CLASSES: &[koord_class] = &[$($crate::kinds::$kind::<$plugin>($crate::ClassSpec {
                $($field: $crate::terminated!($field $value),)+
                ..$crate::ClassSpec::NOTHING
            })),+];
            static MODULE: koord_module = koord_module {
                magic: KOORD_MAGIC,
                struct_size: std::mem::size_of::<koord_module>() as u32,
                abi_major: KOORD_ABI_MAJOR,
                abi_minor: KOORD_ABI_MINOR,
                n_classes: CLASSES.len() as u32,
                class_stride: std::mem::size_of::<koord_class>() as u32,
                rsv: 0,
                manifest: unsafe { &MANIFEST as *const [u8; TEXT.len()] }.cast(),
                classes: CLASSES.as_ptr(),
            };

            #[no_mangle]
            pub extern "C" fn koord_entry_v1() -> *const koord_module {
                &MODULE
            }
        };
    };
}

/// Adds NUL to the texts of a class, which is only possible for literals.
#[doc(hidden)]
#[macro_export]
macro_rules! terminated {
    (name $text:expr) => {
        concat!($text, "\0")
    };
    (config_schema $text:expr) => {
        concat!($text, "\0")
    };
    ($field:ident $value:expr) => {
        $value
    };
}
