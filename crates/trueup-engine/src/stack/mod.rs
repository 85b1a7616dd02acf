//! Programs in Rust: resources are added with their args, and refer to each other with types that the compiler checks.
//!
//! [`Stack`] gathers the [`Program`] and every mistake on the way, which [`Stack::build`] reports. `declared` holds what
//! adding something returns, `instances` repeats a resource, `modules` groups addresses, `providers` configures, and
//! `changes` says what became of earlier addresses and objects.

mod changes;
mod declared;
mod instances;
mod modules;
mod providers;

use std::any::type_name;
use std::collections::BTreeMap;
use std::panic::Location;

use smol_str::SmolStr;
use trueup_core::{Address, AddressError, Diagnostic, Diagnostics, InstanceKey, ModulePath, Path, SourceMap};
use trueup_program::{
    BindingDeclaration, DataDeclaration, Expr, OutputDeclaration, ParallelismClass, Place, Program,
    Reference, ResourceDeclaration, ResourceOptions, RetrySettings,
};
use trueup_provider::{Args, DataSource, Managed, Outputs, Registry};

pub use changes::Removal;
pub use declared::{Declared, DeclaredData, Depends};
pub use providers::ProviderConfiguration;

/// A program in the making.
///
/// ```
/// # extern crate trueup_provider as trueup;
/// # use trueup::{Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Registry, Result};
/// use trueup_engine::Stack;
///
/// # #[derive(Inputs)]
/// # struct Queue { size: u64 }
/// # #[derive(Outputs)]
/// # struct QueueOutput { url: String }
/// # impl Crud for Queue {
/// #     type Output = QueueOutput;
/// #     type Config = NoConfig;
/// #     async fn create(&self, _: &Context) -> Result<QueueOutput> { Ok(QueueOutput { url: "q".into() }) }
/// #     async fn read(&self, _: &Context, _: &QueueOutput) -> Result<QueueOutput> { Ok(QueueOutput { url: "q".into() }) }
/// #     async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<QueueOutput> { Ok(QueueOutput { url: "q".into() }) }
/// #     async fn delete(&self, _: &Context, _: &QueueOutput) -> Result<()> { Ok(()) }
/// # }
/// # #[derive(Inputs)]
/// # struct Worker { queue_url: String }
/// # impl Crud for Worker {
/// #     type Output = QueueOutput;
/// #     type Config = NoConfig;
/// #     async fn create(&self, _: &Context) -> Result<QueueOutput> { Ok(QueueOutput { url: "w".into() }) }
/// #     async fn read(&self, _: &Context, _: &QueueOutput) -> Result<QueueOutput> { Ok(QueueOutput { url: "w".into() }) }
/// #     async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<QueueOutput> { Ok(QueueOutput { url: "w".into() }) }
/// #     async fn delete(&self, _: &Context, _: &QueueOutput) -> Result<()> { Ok(()) }
/// # }
/// # fn main() -> std::result::Result<(), trueup_core::Diagnostics> {
/// # let registry = Registry::new().with(NativeProvider::new("my").crud::<Queue>("queue").crud::<Worker>("worker"));
/// let mut stack = Stack::new("site", &registry);
/// let queue = stack.add("jobs", Queue::args().size(5));
/// let worker = stack.add("worker", Worker::args().queue_url(queue.url()));
/// stack.options(&worker).protect = true;
/// stack.output("url", queue.url());
/// let program = stack.build()?;
/// # assert_eq!(program.resources[1].inputs.references()[0].address.to_string(), "my_queue.jobs");
/// # Ok(())
/// # }
/// ```
pub struct Stack<'r> {
    registry: &'r Registry,
    program: Program,
    mistakes: Diagnostics,
    /// The module that is being declared.
    module: ModulePath,
    /// The configurations that providers have here, by the providers' names, where it is not the default one.
    configurations: BTreeMap<SmolStr, SmolStr>,
}

impl<'r> Stack<'r> {
    /// An empty stack of this name, with the types that the registry knows.
    pub fn new(name: impl Into<SmolStr>, registry: &'r Registry) -> Self {
        Stack {
            registry,
            program: Program { stack: name.into(), ..Program::default() },
            mistakes: Diagnostics::new(),
            module: ModulePath::ROOT,
            configurations: BTreeMap::new(),
        }
    }

    /// Adds a resource.
    #[track_caller]
    pub fn add<A: Args, By>(&mut self, name: &str, args: A) -> Declared<<A::Of as Managed<By>>::Output>
    where
        A::Of: Managed<By>,
    {
        self.add_instance(name, None, args)
    }

    #[track_caller]
    fn add_instance<A: Args, By>(
        &mut self,
        name: &str,
        key: Option<InstanceKey>,
        args: A,
    ) -> Declared<<A::Of as Managed<By>>::Output>
    where
        A::Of: Managed<By>,
    {
        let location = Location::caller();
        let registered = self.registry.type_of::<A::Of>();
        let registered = self.registered(registered, "resource type", type_name::<A::Of>(), location);
        let address = self.address(Address::resource, &registered, name, key, location);
        let inputs = args.into_expression().placed_in(&mut self.program.sources);
        let place = Some(Place::Code(location));
        let provider = self.configuration_of(&registered);
        let declared =
            ResourceDeclaration { place, provider, ..ResourceDeclaration::new(address.clone(), inputs) };
        self.program.resources.push(declared);
        Declared::new(address)
    }

    /// Adds a data source: something that is only read.
    #[track_caller]
    pub fn data<A: Args>(&mut self, name: &str, args: A) -> DeclaredData<<A::Of as DataSource>::Output>
    where
        A::Of: DataSource,
    {
        let location = Location::caller();
        let registered = self.registry.data_source_type_of::<A::Of>();
        let registered = self.registered(registered, "data source", type_name::<A::Of>(), location);
        let address = self.address(Address::data, &registered, name, None, location);
        let inputs = args.into_expression().placed_in(&mut self.program.sources);
        let place = Some(Place::Code(location));
        let provider = self.configuration_of(&registered);
        self.program.data.push(DataDeclaration {
            place,
            provider,
            ..DataDeclaration::new(address.clone(), inputs)
        });
        DeclaredData::new(address)
    }

    /// The name under which a Rust type is registered; of one that is not, a stand-in and a mistake.
    fn registered(
        &mut self,
        found: Option<SmolStr>,
        kind: &str,
        rust_name: &str,
        location: &'static Location<'static>,
    ) -> SmolStr {
        found.unwrap_or_else(|| {
            let summary = format!("`{rust_name}` is not a registered {kind}");
            self.mistake(summary, "add its provider to the registry", location);
            "unregistered".into()
        })
    }

    /// An address in the module that is being declared; instead of a mistaken one a stand-in, with a mistake.
    fn address(
        &mut self,
        of: impl Fn(&str, &str) -> Result<Address, AddressError>,
        type_name: &str,
        name: &str,
        key: Option<InstanceKey>,
        location: &'static Location<'static>,
    ) -> Address {
        let address = of(type_name, name).unwrap_or_else(|error| {
            self.mistake(error.to_string(), "give it a name like `jobs`", location);
            of(type_name, "unnamed").expect("both are names")
        });
        address.with_key(key).in_module(self.module.clone())
    }

    /// Keeps a mistake for [`Stack::build`].
    fn mistake(&mut self, summary: String, hint: &str, location: &'static Location<'static>) {
        let mut diagnostic = Diagnostic::error(summary).hint(hint);
        diagnostic.origin = Some(self.program.sources.code(location));
        self.mistakes.push(diagnostic);
    }

    /// How the engine treats a resource.
    pub fn options<Out: Outputs>(&mut self, of: &Declared<Out>) -> &mut ResourceOptions {
        &mut self.declaration(of).options
    }

    /// Makes a resource or data source wait for another that its inputs do not refer to.
    pub fn depends_on(&mut self, of: &impl Depends, on: &impl Depends) {
        let (of, on) = (of.address(), on.address().clone());
        let Program { resources, data, .. } = &mut self.program;
        let resources = resources.iter_mut().map(|declared| (&declared.address, &mut declared.depends_on));
        let data = data.iter_mut().map(|declared| (&declared.address, &mut declared.depends_on));
        let found = resources.chain(data).find(|(address, _)| *address == of);
        found.expect("what was declared is in the stack that declared it").1.push(on);
    }

    /// Replaces a resource whenever another one changes.
    pub fn replace_with<Out: Outputs, Other: Outputs>(
        &mut self,
        of: &Declared<Out>,
        other: &Declared<Other>,
    ) {
        let other = other.address().clone();
        let declared = self.declaration(of);
        // Only what is decided before can trigger.
        declared.depends_on.push(other.clone());
        declared.replace_triggered_by.push(Reference { address: other, path: Path::ROOT });
    }

    /// Attaches something to a resource, under a key (BIND-1).
    pub fn bind<Out: Outputs, T>(&mut self, to: &Declared<Out>, key: &str, payload: Expr<T>) {
        let payload = payload.into_expression().placed_in(&mut self.program.sources);
        self.declaration(to).bindings.push(BindingDeclaration { key: key.into(), payload });
    }

    /// How failed operations on all resources of a type are repeated, where a resource does not say.
    #[track_caller]
    pub fn retry_type<T: Managed<By>, By>(&mut self, retry: RetrySettings) {
        let registered = self.registry.type_of::<T>();
        let name = self.registered(registered, "resource type", type_name::<T>(), Location::caller());
        self.program.type_retries.insert(name, retry);
    }

    /// Limits how many operations run at a time on the resources of a class. A resource joins one by
    /// [`ResourceOptions::parallelism_class`].
    pub fn parallelism_class(&mut self, name: &str, limit: usize) {
        self.program.parallelism.push(ParallelismClass { name: name.into(), limit });
    }

    /// Gives something to people and other stacks. Only the root of a stack has outputs: a module returns what it gives.
    #[track_caller]
    pub fn output<T>(&mut self, name: &str, value: Expr<T>) {
        self.add_output(name, value, false, Location::caller());
    }

    /// The same, hidden wherever outputs are shown, whatever it is made of.
    #[track_caller]
    pub fn secret_output<T>(&mut self, name: &str, value: Expr<T>) {
        self.add_output(name, value, true, Location::caller());
    }

    fn add_output<T>(
        &mut self,
        name: &str,
        value: Expr<T>,
        secret: bool,
        location: &'static Location<'static>,
    ) {
        if !self.module.is_root() {
            let summary = format!("the stack's output `{name}` is declared in {}", self.module);
            self.mistake(
                summary,
                "return the value from the module, and declare the output outside",
                location,
            );
        }
        if self.program.outputs.iter().any(|declared| declared.name == name) {
            self.mistake(format!("the output `{name}` is declared twice"), "rename one of them", location);
        }
        let value = value.into_expression().placed_in(&mut self.program.sources);
        self.program.outputs.push(OutputDeclaration { name: name.into(), value, secret });
    }

    /// The places in code so far, to which origins in diagnostics refer.
    pub fn sources(&self) -> &SourceMap {
        &self.program.sources
    }

    /// The program, or all that is wrong with how it was put together.
    pub fn build(self) -> Result<Program, Diagnostics> {
        if self.mistakes.has_errors() { Err(self.mistakes) } else { Ok(self.program) }
    }

    /// The program as far as it was put together, for a destroy: mistakes do not stand in its way (DELETE-8).
    pub fn build_to_destroy(self) -> Program {
        self.program
    }

    fn declaration<Out: Outputs>(&mut self, of: &Declared<Out>) -> &mut ResourceDeclaration {
        let found =
            self.program.resources.iter_mut().rev().find(|declared| declared.address == *of.address());
        found.expect("a declared resource is in the stack that declared it")
    }
}
