package kit

// Look lends what was typed to fn, which must not keep or change it: to compare two fields, or to say how strong a passphrase is.
func (f *SecretField) Look(fn func(typed []byte)) { fn(f.buf) }
