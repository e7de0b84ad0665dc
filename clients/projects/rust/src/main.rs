use rowhouse as _;

fn main() {}
