//! A historian's feature series through the same judgement as live windows.
