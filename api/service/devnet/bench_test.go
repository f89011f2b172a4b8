package devnet_test

import (
	"path/filepath"
	"testing"
	"time"

	"coffer/api/network"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

func options() devnet.Options {
	return devnet.Options{
		Clock: func() time.Time { return time.Unix(1_760_000_000, 0) },
		Seed:  []byte("an installation seed of 32 bytes"), Kind: network.Embedded,
	}
}

func BenchmarkOpenFreshMemory(b *testing.B) {
	for b.Loop() {
		if _, err := devnet.Open(store.NewMemory(), options()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenFreshBolt(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		s, err := store.OpenBolt(filepath.Join(dir, string(rune('a'+n%26)), time.Now().Format("150405.000000000")),
			store.BoltOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := devnet.Open(s, options()); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReopenBolt(b *testing.B) {
	path := filepath.Join(b.TempDir(), "coffer.db")
	open := func() {
		s, err := store.OpenBolt(path, store.BoltOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := devnet.Open(s, options()); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	open()
	for b.Loop() {
		open()
	}
}
