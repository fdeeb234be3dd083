// The library that the plug-in loads.
int sub_answer(void) { return 42; }
