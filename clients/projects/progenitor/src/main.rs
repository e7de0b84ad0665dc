progenitor::generate_api!("openapi-3.0.json");

fn main() {}
