#define IF_LOG(l) if (lvl >= LOG_##l)
void g(){ IF_LOG(DEBUG) { target(1); } }
void k(){ target(2); }
