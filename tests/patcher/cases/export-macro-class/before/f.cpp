class MY_API Pool final : public Base { public: int size() const { return n_; } };
