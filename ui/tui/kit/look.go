package kit

// Look lends the typed bytes to fn, which must not keep or change them: for comparing two fields or rating a
// passphrase.
func (f *SecretField) Look(fn func(typed []byte)) { fn(f.buf) }
