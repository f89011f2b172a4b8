package solmsg_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
)

func TestGateRefusesTruncationExtensionAndOtherVersions(t *testing.T) {
	for _, c := range load(t).Cases {
		data := unbase64(t, c.MessageBase64)
		for i := range data {
			_, err := solmsg.Parse(data[:i])
			var refused *solmsg.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%s: the first %d bytes gave %v", c.Name, i, err)
			}
		}
		for _, extra := range [][]byte{{0}, {1}, make([]byte, 40)} {
			_, err := solmsg.Parse(slices.Concat(data, extra))
			wantCode(t, c.Name+" with more bytes", err, "S1")
		}
		if c.Kind == "legacy" {
			continue
		}
		for v := 0x81; v <= 0xff; v++ {
			data[0] = byte(v)
			_, err := solmsg.Parse(data)
			wantCode(t, c.Name+" in another version", err, "S1")
		}
	}
	_, err := solmsg.Parse(nil)
	wantCode(t, "nothing", err, "S1")
	_, err = solmsg.Parse(make([]byte, solmsg.MaxSize+1))
	wantCode(t, "1233 bytes", err, "S1")
	_, err = solmsg.Parse(append([]byte{0x7f}, make([]byte, 200)...))
	wantCode(t, "version byte of the library", err, "S2")
}

// build assembles a message by hand so that every refusal can be reached.
type build struct {
	header       [3]byte
	keys         int
	instructions [][]byte
	lookups      [][]byte
	legacy       bool
}

func (b build) bytes() []byte {
	out := []byte{0x80}
	if b.legacy {
		out = nil
	}
	out = append(out, b.header[:]...)
	out = append(out, byte(b.keys))
	for i := range b.keys {
		out = append(out, bytes.Repeat([]byte{byte(i + 1)}, 32)...)
	}
	out = append(out, make([]byte, 32)...)
	out = append(out, byte(len(b.instructions)))
	for _, ix := range b.instructions {
		out = append(out, ix...)
	}
	if !b.legacy {
		out = append(out, byte(len(b.lookups)))
		for _, l := range b.lookups {
			out = append(out, l...)
		}
	}
	return out
}

func table(writable, readonly []byte) []byte {
	return slices.Concat(bytes.Repeat([]byte{0xee}, 32), []byte{byte(len(writable))}, writable,
		[]byte{byte(len(readonly))}, readonly)
}

func TestGateRefusesEveryImpossibleIndexAndHeader(t *testing.T) {
	good := func() build {
		return build{header: [3]byte{1, 0, 1}, keys: 3, instructions: [][]byte{{2, 3, 0, 1, 3, 2, 9, 9}},
			lookups: [][]byte{table([]byte{7}, []byte{8})}}
	}
	m, err := solmsg.Parse(good().bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []solmsg.Account{
		{Key: m.Keys[0], Signer: true, Writable: true}, {Key: m.Keys[1], Writable: true},
		{Lookup: true, Table: m.Lookups[0].Table, Entry: 7, Writable: true},
	}
	if !slices.Equal(m.Instructions[0].Accounts, want) || m.Instructions[0].Program != m.Keys[2] ||
		len(m.Accounts()) != 5 {
		t.Errorf("%+v", m.Instructions[0])
	}
	for _, c := range []struct {
		name, code string
		spoil      func(b *build)
	}{
		{"no signer", "S2", func(b *build) { b.header = [3]byte{0, 0, 0} }},
		{"more signers than keys", "S2", func(b *build) { b.header = [3]byte{4, 0, 0} }},
		{"read-only fee payer", "S2", func(b *build) { b.header = [3]byte{1, 1, 0} }},
		{"more read-only signers", "S2", func(b *build) { b.header = [3]byte{1, 2, 0} }},
		{"too many read-only", "S2", func(b *build) { b.header = [3]byte{1, 0, 3} }},
		{"no keys", "S2", func(b *build) { b.keys = 0 }},
		{"fee payer as program", "S1", func(b *build) { b.instructions[0][0] = 0 }},
		{"program from a table", "S1", func(b *build) { b.instructions[0][0] = 3 }},
		{"program outside", "S1", func(b *build) { b.instructions[0][0] = 200 }},
		{"account outside", "S1", func(b *build) { b.instructions[0][4] = 5 }},
		{"empty table", "S1", func(b *build) { b.lookups = append(b.lookups, table(nil, nil)) }},
		{"too many accounts", "S1", func(b *build) {
			b.lookups = [][]byte{slices.Concat(bytes.Repeat([]byte{1}, 32), []byte{0xfe, 0x01}, make([]byte, 254),
				[]byte{0})}
		}},
		{"legacy with a table", "S1", func(b *build) { b.legacy = true }},
	} {
		b := good()
		c.spoil(&b)
		_, err := solmsg.Parse(b.bytes())
		wantCode(t, c.name, err, c.code)
	}
	twice := good().bytes()
	copy(twice[5+32:], twice[5:5+32])
	_, err = solmsg.Parse(twice)
	wantCode(t, "a key twice", err, "S1")
	// 0x83 0x00 is another way to write the length 3.
	long := good().bytes()
	long = slices.Concat(long[:4], []byte{0x83, 0x00}, long[5:])
	_, err = solmsg.Parse(long)
	wantCode(t, "non-minimal length", err, "S1")
}

func TestBase64HasOneSpelling(t *testing.T) {
	s := load(t).Cases[0].MessageBase64
	body := strings.TrimRight(s, "=")
	for name, in := range map[string]string{
		"line break": s[:8] + "\n" + s[8:], "carriage return": s + "\r\n", "no padding": body, "space": " " + s,
		"url alphabet": strings.NewReplacer("+", "-", "/", "_").Replace(s),
		"nothing":      "", "too long": strings.Repeat("A", 1648), "not base64": "!" + s[1:],
		"loose bits": looseBits(s),
	} {
		if in == s {
			continue // this vector has no such character
		}
		_, err := solmsg.ParseBase64(in)
		wantCode(t, name, err, "S1")
	}
}

// looseBits sets a bit that the last base64 digit does not use.
func looseBits(s string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	i := len(strings.TrimRight(s, "=")) - 1
	return s[:i] + string(digits[strings.IndexByte(digits, s[i])^1]) + s[i+1:]
}

// agree compares the gate with the second reader.
func agree(t testing.TB, data []byte) {
	t.Helper()
	m, err := solmsg.Parse(data)
	o := &oracle{rest: data}
	total, want := o.check()
	if (err == nil) != (want == nil) {
		t.Fatalf("gate says %v, second reader says %v: %x", err, want, data)
	}
	if err != nil {
		var refused *solmsg.Error
		if !errors.As(err, &refused) {
			t.Fatalf("untyped refusal %v", err)
		}
		return
	}
	if !bytes.Equal(m.Bytes(), data) || len(m.Accounts()) != total {
		t.Fatalf("accepted message differs: %x", data)
	}
}

func TestGateAgreesWithASecondReaderOnMutatedMessages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var pool [][]byte
	for _, c := range load(t).Cases {
		pool = append(pool, unbase64(t, c.MessageBase64))
	}
	const rounds = 60_000
	for range rounds {
		data := bytes.Clone(pool[random.IntN(len(pool))])
		for range 1 + random.IntN(4) {
			at := random.IntN(len(data))
			switch random.IntN(6) {
			case 0:
				data[at] ^= 1 << random.IntN(8)
			case 1:
				data[at] = byte(random.IntN(256))
			case 2:
				data[at] += byte(random.IntN(5) - 2)
			case 3:
				data = slices.Delete(data, at, min(len(data), at+1+random.IntN(33)))
			case 4:
				data = slices.Insert(data, at, byte(random.IntN(256)))
			case 5:
				data = data[:at+1]
			}
			if len(data) == 0 {
				data = []byte{0}
			}
		}
		agree(t, data)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range load(f).Cases {
		f.Add(unbase64(f, c.MessageBase64))
	}
	f.Add(build{header: [3]byte{1, 0, 1}, keys: 3, instructions: [][]byte{{2, 3, 0, 1, 3, 2, 9, 9}},
		lookups: [][]byte{table([]byte{7}, []byte{8})}}.bytes())
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
