//! Temporary workspaces, scripts, fixed clock, fake model server, architecture test
