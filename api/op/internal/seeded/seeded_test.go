package seeded

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestTheStreamIsTheGeneratorsStream: the expected values were printed by .ci/vectors/stream.mjs.
func TestTheStreamIsTheGeneratorsStream(t *testing.T) {
	s := New("user operation", 7)
	got := []any{hex.EncodeToString(s.Bytes(40)), s.Below(1000003)}
	for _, bits := range []int{8, 53, 128, 256, 256, 256, 256, 256} {
		got = append(got, s.Number(bits))
	}
	got = append(got, s.Blob(20), s.Text(30), s.Blob(9), hex.EncodeToString(Key("ed25519", 63)),
		hex.EncodeToString(Sum([]byte("ab"), []byte("c"))))
	want :=
		`[eb9c69149d4b426930c12f29adaa708da9e91cda3cfee3248b383f0bfaf83f92d8b88d29d46f8e3c 34969 9 988929579 ` +
			`37443518 ` +
			`57896044618658097711785492504343953926634992332820282019728792003956564819968 ` +
			`2209569713451876464125912500730734855073358141674426509613848 0 ` +
			`94036214703270855615710443956894529246015935811386314762599894742667 0 [231] uyb2B:_NLi0Sz-E3 b5(G6~A5m ` +
			`[123 43 192 152 227 151 123 190 227] ` +
			`8d8ba54540e5d8128046a69f938f4a75a861561a1282d3e418564cc45adf8782 ba7816bf8f01cfea]`
	if fmt.Sprint(got) != want {
		t.Errorf("drew\n%v\nexpected\n%s", got, want)
	}
}

func TestPositiveNumbersAreNeverZero(t *testing.T) {
	zeros := 0
	for i := range 200 {
		if New("n", i).Number(16).Sign() == 0 {
			zeros++
		}
		if New("n", i).Positive(16).Sign() <= 0 {
			t.Errorf("item %d", i)
		}
	}
	if zeros == 0 {
		t.Error("no stream starts with zero, so nothing was shown")
	}
}

func TestComparisonsFindWhatDiffers(t *testing.T) {
	const size = 2
	record := func(i int) ([]byte, error) { return []byte{byte(i >> 8), byte(i)}, nil }
	var file []byte
	for i := range Count {
		r, _ := record(i)
		file = append(file, r...)
	}
	compare := func(file []byte, record func(int) ([]byte, error)) (Comparison, error) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return Compare(path, size, record)
	}
	c, err := compare(file, record)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.NoticesEveryFlip(); err != nil {
		t.Error(err)
	}
	broken := bytes.Clone(file)
	broken[2*77] ^= 1
	fails := errors.New("no such item")
	for name, f := range map[string]func() error{
		"a changed byte": func() error { _, err := compare(broken, record); return err },
		"a missing byte": func() error { _, err := compare(file[:len(file)-1], record); return err },
		"one item more":  func() error { _, err := compare(append(bytes.Clone(file), 0, 0), record); return err },
		"no file": func() error {
			_, err := Compare(filepath.Join(t.TempDir(), "none"), size,
				record)
			return err
		},
		"a short record": func() error {
			_, err := compare(file,
				func(int) ([]byte, error) { return []byte{1}, nil })
			return err
		},
		"a failed record": func() error {
			_, err := compare(file,
				func(int) ([]byte, error) { return nil, fails })
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
	blind := Comparison{made: nil, want: file, size: size}
	if blind.NoticesEveryFlip() == nil {
		t.Error("a comparison that always differs passes for a good one")
	}
}
