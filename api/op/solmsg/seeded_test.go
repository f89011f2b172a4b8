package solmsg_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"coffer/api/op/internal/seeded"
	"coffer/api/op/solmsg"
)

// The forms of the drawn messages.
const (
	formV0 = iota
	formLegacy
	formTables
	forms
)

// drawing is one message before it is compiled.
type drawing struct {
	form          int
	payer, second solmsg.Key
	keys          map[solmsg.Key]ed25519.PrivateKey
	blockhash     solmsg.Key
	instructions  []solmsg.Build
	tables        []lookupTable
}

// lookupTable is a lookup table as the chain holds it.
type lookupTable struct {
	key       solmsg.Key
	addresses []solmsg.Key
}

func drawKey(s *seeded.Stream) solmsg.Key { return solmsg.Key(s.Bytes(32)) }

func drawKeys(s *seeded.Stream, n int) []solmsg.Key {
	out := make([]solmsg.Key, n)
	for i := range out {
		out[i] = drawKey(s)
	}
	return out
}

// holders are the keys that sign.
type holders [seeded.Keys]ed25519.PrivateKey

func newHolders() (all holders) {
	for i := range all {
		all[i] = ed25519.NewKeyFromSeed(seeded.Key("ed25519", i))
	}
	return all
}

func (all *holders) drawMessage(s *seeded.Stream) drawing {
	d := drawing{form: s.Below(forms), keys: map[solmsg.Key]ed25519.PrivateKey{}}
	for _, k := range []*solmsg.Key{&d.payer, &d.second} {
		private := all[s.Below(seeded.Keys)]
		*k = solmsg.Key(private[32:])
		d.keys[*k] = private
	}
	d.blockhash = drawKey(s)
	programs, others := drawKeys(s, 3), drawKeys(s, 8)
	for n := range 1 + s.Below(5) {
		d.instructions = append(d.instructions, d.drawInstruction(s, n, programs, others))
	}
	if d.form == formTables {
		d.drawTables(s, slices.Concat([]solmsg.Key{d.second}, programs, others))
	}
	return d
}

func (d *drawing) drawInstruction(s *seeded.Stream, n int, programs, others []solmsg.Key) solmsg.Build {
	ix := solmsg.Build{Program: programs[s.Below(len(programs))]}
	for range s.Below(7) {
		var m solmsg.Meta
		pick := s.Below(20)
		switch {
		case pick == 0:
			m.Key = d.payer
		case pick <= 2:
			m.Key = d.second
		case pick == 3:
			m.Key = programs[s.Below(len(programs))]
		default:
			m.Key = others[s.Below(len(others))]
		}
		m.Signer = pick <= 2 && s.Below(2) == 1
		m.Writable = s.Below(2) == 1
		ix.Accounts = append(ix.Accounts, m)
	}
	most := 60
	if n == 0 && s.Below(4) == 0 {
		most = 400
	}
	ix.Data = s.Blob(most)
	return ix
}

func (d *drawing) drawTables(s *seeded.Stream, named []solmsg.Key) {
	for range 1 + s.Below(2) {
		t := lookupTable{key: drawKey(s)}
		for _, k := range named {
			if s.Below(4) == 0 {
				t.addresses = append(t.addresses, drawKey(s))
			}
			if s.Below(2) == 1 {
				t.addresses = append(t.addresses, k)
			}
		}
		d.tables = append(d.tables, t)
	}
}

// rights is what a message gives one key: the union of what its uses ask for.
type rights struct{ signer, writable, program bool }

func (d drawing) rights() (order []solmsg.Key, of map[solmsg.Key]rights) {
	of = map[solmsg.Key]rights{}
	use := func(k solmsg.Key, r rights) {
		old, known := of[k]
		if !known {
			order = append(order, k)
		}
		of[k] = rights{old.signer || r.signer, old.writable || r.writable, old.program || r.program}
	}
	use(d.payer, rights{signer: true, writable: true})
	for _, ix := range d.instructions {
		use(ix.Program, rights{program: true})
		for _, a := range ix.Accounts {
			use(a.Key, rights{signer: a.Signer, writable: a.Writable})
		}
	}
	return order, of
}

// compiled is the message's bytes. Version 0 without tables comes from Compose. The legacy form has the same bytes
// without the version in front and the count of tables behind. Messages with tables are never made by our code, so
// encodeWithTables writes them here.
func (d drawing) compiled() ([]byte, error) {
	if d.form == formTables {
		return d.encodeWithTables(), nil
	}
	m, err := solmsg.Compose(d.payer, d.blockhash, d.instructions...)
	if err != nil || d.form == formV0 {
		return m.Bytes(), err
	}
	b := m.Bytes()
	return b[1 : len(b)-1], nil
}

// encodeWithTables writes a version 0 message whose keys are taken from the tables where they may be: they neither sign
// nor run.
func (d drawing) encodeWithTables() []byte {
	order, of := d.rights()
	var lookups []byte
	var lists [2][]solmsg.Key // found in tables: writable, read-only
	used := 0
	for _, t := range d.tables {
		var entries [2][]byte
		for i, writable := range []bool{true, false} {
			for _, k := range slices.Clone(order) {
				at := slices.Index(t.addresses, k)
				if r := of[k]; at >= 0 && !r.signer && !r.program && r.writable == writable {
					entries[i] = append(entries[i], byte(at))
					lists[i] = append(lists[i], k)
					order = slices.DeleteFunc(order, func(x solmsg.Key) bool { return x == k })
				}
			}
		}
		if len(entries[0])+len(entries[1]) > 0 {
			used++
			lookups = slices.Concat(lookups, t.key[:], short(len(entries[0])), entries[0], short(len(entries[1])),
				entries[1])
		}
	}
	var keys []solmsg.Key
	var counts [4]int
	for class, want := range [4]rights{{signer: true, writable: true}, {signer: true}, {writable: true}, {}} {
		for _, k := range order {
			if r := of[k]; r.signer == want.signer && r.writable == want.writable {
				keys = append(keys, k)
				counts[class]++
			}
		}
	}
	out := []byte{0x80, byte(counts[0] + counts[1]), byte(counts[1]), byte(counts[3])}
	out = append(out, short(len(keys))...)
	for _, k := range keys {
		out = append(out, k[:]...)
	}
	out = slices.Concat(out, d.blockhash[:], short(len(d.instructions)))
	keys = slices.Concat(keys, lists[0], lists[1])
	for _, ix := range d.instructions {
		out = append(append(out, byte(slices.Index(keys, ix.Program))), short(len(ix.Accounts))...)
		for _, a := range ix.Accounts {
			out = append(out, byte(slices.Index(keys, a.Key)))
		}
		out = slices.Concat(out, short(len(ix.Data)), ix.Data)
	}
	return slices.Concat(out, short(used), lookups)
}

// short is a compact-u16.
func short(n int) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	return []byte{byte(n) | 0x80, byte(n >> 7)}
}

// sameAsDrawn compares a parsed message with the drawing, with the entries of its tables looked up.
func (d drawing) sameAsDrawn(m solmsg.Message) error {
	_, of := d.rights()
	if (m.Version == solmsg.Legacy) != (d.form == formLegacy) || m.FeePayer() != d.payer ||
		m.Blockhash != d.blockhash || len(m.Instructions) != len(d.instructions) {
		return fmt.Errorf("reads as %s of %s with %d instructions", m.Version, m.FeePayer(), len(m.Instructions))
	}
	for i, ix := range m.Instructions {
		want := d.instructions[i]
		if ix.Program != want.Program || !bytes.Equal(ix.Data, want.Data) || len(ix.Accounts) != len(want.Accounts) {
			return fmt.Errorf("instruction %d is %+v", i, ix)
		}
		for j, a := range ix.Accounts {
			key := a.Key
			if a.Lookup {
				at := slices.IndexFunc(d.tables, func(t lookupTable) bool { return t.key == a.Table })
				if at < 0 || int(a.Entry) >= len(d.tables[at].addresses) {
					return fmt.Errorf("instruction %d account %d is in no table", i, j)
				}
				key = d.tables[at].addresses[a.Entry]
			}
			if r := of[want.Accounts[j].Key]; key != want.Accounts[j].Key || a.Signer != r.signer ||
				a.Writable != r.writable {
				return fmt.Errorf("instruction %d account %d is %+v", i, j, a)
			}
		}
	}
	return nil
}

// signed are the signatures of all signers, in their order, each verified.
func (d drawing) signed(m solmsg.Message) ([]byte, error) {
	var all []byte
	for _, k := range m.Signers() {
		private, known := d.keys[k]
		if !known {
			return nil, errors.New("somebody else has to sign")
		}
		sig := ed25519.Sign(private, m.Bytes())
		if !m.Verify(k, [64]byte(sig)) {
			return nil, errors.New("the signature does not verify")
		}
		all = append(all, sig...)
	}
	return all, nil
}

// TestTH_S1_TenThousandMessagesAreCompiledReadAndSignedAsByWeb3js: our bytes are those of web3.js, the gate reads from
// them what was put in, and the signatures are the same. A byte of the file that is flipped anywhere makes one
// difference.
func TestTH_S1_TenThousandMessagesAreCompiledReadAndSignedAsByWeb3js(t *testing.T) {
	who := newHolders()
	var perForm [forms]atomic.Int32
	var twoSign, looked atomic.Int32
	c, err := seeded.Compare("testdata/differential/messages.bin", 2*seeded.Short, func(i int) ([]byte, error) {
		d := who.drawMessage(seeded.New("solana message", i))
		m, record, err := d.record()
		perForm[d.form].Add(1)
		if len(m.Signers()) == 2 {
			twoSign.Add(1)
		}
		if len(m.Lookups) > 0 {
			looked.Add(1)
		}
		return record, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range perForm {
		if n := perForm[i].Load(); n < seeded.Count/4 {
			t.Errorf("%d messages of form %d", n, i)
		}
	}
	if twoSign.Load() < seeded.Count/10 || looked.Load() < seeded.Count/5 {
		t.Errorf("two sign %d messages, %d have lookup tables", twoSign.Load(), looked.Load())
	}
	if err := c.NoticesEveryFlip(); err != nil {
		t.Fatal(err)
	}
}

// record is what the file keeps of one message.
func (d drawing) record() (solmsg.Message, []byte, error) {
	b, err := d.compiled()
	if err != nil {
		return solmsg.Message{}, nil, err
	}
	m, err := solmsg.Parse(b)
	if err != nil {
		return m, nil, err
	}
	if err := d.sameAsDrawn(m); err != nil {
		return m, nil, err
	}
	signatures, err := d.signed(m)
	return m, slices.Concat(seeded.Sum(b), seeded.Sum(signatures)), err
}
