//! Programs in Rust: resources are added with their args, and refer to each other with types that the compiler checks.

use std::any::type_name;
use std::ops::Deref;
use std::panic::Location;

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, SourceMap};
use trueup_program::{
    BindingDeclaration, Expr, MoveDeclaration, OutputDeclaration, Place, Program, ResourceDeclaration,
    ResourceOptions,
};
use trueup_provider::{Args, Managed, Outputs, Registry};

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
}

/// A resource that was added. Its outputs are methods: `queue.url()`.
pub struct Declared<Out: Outputs> {
    address: Address,
    refs: Out::Refs,
}

impl<Out: Outputs> Declared<Out> {
    /// Its address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// References to its outputs, for those whose names something else has.
    pub fn outputs(&self) -> &Out::Refs {
        &self.refs
    }
}

impl<Out: Outputs> Deref for Declared<Out> {
    type Target = Out::Refs;

    fn deref(&self) -> &Out::Refs {
        &self.refs
    }
}

impl<'r> Stack<'r> {
    /// An empty stack of this name, with the types that the registry knows.
    pub fn new(name: impl Into<SmolStr>, registry: &'r Registry) -> Self {
        let program = Program { stack: name.into(), ..Program::default() };
        Stack { registry, program, mistakes: Diagnostics::new() }
    }

    /// Adds a resource.
    #[track_caller]
    pub fn add<A: Args, By>(&mut self, name: &str, args: A) -> Declared<<A::Of as Managed<By>>::Output>
    where
        A::Of: Managed<By>,
    {
        let place = Place::Code(Location::caller());
        let address = self.address::<A::Of>(name, Location::caller());
        let inputs = args.into_expression().placed_in(&mut self.program.sources);
        let declared =
            ResourceDeclaration { place: Some(place), ..ResourceDeclaration::new(address.clone(), inputs) };
        self.program.resources.push(declared);
        let refs = <A::Of as Managed<By>>::Output::refs(address.clone());
        Declared { address, refs }
    }

    /// The address of a new resource; of a mistaken one a stand-in, and the mistake is kept for [`Stack::build`].
    fn address<T: 'static>(&mut self, name: &str, location: &'static Location<'static>) -> Address {
        let origin = self.program.sources.code(location);
        let mut mistake = |summary: String, hint: &str| {
            let mut diagnostic = Diagnostic::error(summary).hint(hint);
            diagnostic.origin = Some(origin);
            self.mistakes.push(diagnostic);
        };
        let type_name = self.registry.type_of::<T>().unwrap_or_else(|| {
            let summary = format!("`{}` is not a registered resource type", type_name::<T>());
            mistake(summary, "add its provider to the registry");
            "unregistered".into()
        });
        Address::resource(&type_name, name).unwrap_or_else(|error| {
            mistake(error.to_string(), "give the resource a name like `jobs`");
            Address::resource(&type_name, "unnamed").expect("both are names")
        })
    }

    /// How the engine treats a resource.
    pub fn options<Out: Outputs>(&mut self, of: &Declared<Out>) -> &mut ResourceOptions {
        &mut self.declaration(of).options
    }

    /// Makes a resource wait for another that its inputs do not refer to.
    pub fn depends_on<Out: Outputs, Other: Outputs>(&mut self, of: &Declared<Out>, on: &Declared<Other>) {
        let on = on.address.clone();
        self.declaration(of).depends_on.push(on);
    }

    /// Attaches something to a resource, under a key (BIND-1).
    pub fn bind<Out: Outputs, T>(&mut self, to: &Declared<Out>, key: &str, payload: Expr<T>) {
        let payload = payload.into_expression().placed_in(&mut self.program.sources);
        self.declaration(to).bindings.push(BindingDeclaration { key: key.into(), payload });
    }

    /// Says that a resource had another address before (MOVE-1).
    pub fn moved<Out: Outputs>(&mut self, from: Address, to: &Declared<Out>) {
        self.program.moves.push(MoveDeclaration { from: from.into(), to: to.address.clone().into() });
    }

    /// Gives something to people and other stacks.
    pub fn output<T>(&mut self, name: &str, value: Expr<T>) {
        let value = value.into_expression().placed_in(&mut self.program.sources);
        self.program.outputs.push(OutputDeclaration { name: name.into(), value, secret: false });
    }

    /// The places in code so far, to which origins in diagnostics refer.
    pub fn sources(&self) -> &SourceMap {
        &self.program.sources
    }

    /// The program, or all that is wrong with how it was put together.
    pub fn build(self) -> Result<Program, Diagnostics> {
        if self.mistakes.has_errors() { Err(self.mistakes) } else { Ok(self.program) }
    }

    fn declaration<Out: Outputs>(&mut self, of: &Declared<Out>) -> &mut ResourceDeclaration {
        let found = self.program.resources.iter_mut().rev().find(|declared| declared.address == of.address);
        found.expect("a declared resource is in the stack that declared it")
    }
}
