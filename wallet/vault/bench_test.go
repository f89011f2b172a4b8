package vault

import (
	"fmt"
	"testing"

	"coffer/api/secret"
)

// BenchmarkKR6Unlock measures what a passphrase costs: 2^18 is the default, 2^17 is for small machines.
func BenchmarkKR6Unlock(b *testing.B) {
	for _, work := range []int{17, 18} {
		b.Run(fmt.Sprintf("2^%d", work), func(b *testing.B) {
			v := newBench(b).open(b, BackendFile, func(o *Options) { o.WorkFactor = work })
			if err := v.Create(b.Context(), pass()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := v.Unlock(b.Context(), pass()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUse measures one lending from a file: reading, opening and checking a record.
func BenchmarkUse(b *testing.B) {
	v := newBench(b).created(b, BackendFile)
	item := mustAdd(b, v, EVM, "k")
	for b.Loop() {
		if err := v.Use(b.Context(), here, item.Address, func(secret.Secret) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
