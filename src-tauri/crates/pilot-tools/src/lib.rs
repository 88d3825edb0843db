//! Tool bodies, memory, skills and the registry
