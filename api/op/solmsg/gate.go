package solmsg

import (
	"bytes"
	"encoding/base64"

	"github.com/gagliardetto/solana-go"
)

// Parse accepts the canonical bytes of a legacy or version 0 message and nothing else.
func Parse(data []byte) (Message, error) {
	if err := checkEnvelope(data); err != nil {
		return Message{}, err
	}
	decoded, err := decode(data)
	if err != nil {
		return Message{}, err
	}
	m := Message{raw: bytes.Clone(data)}
	if decoded.IsVersioned() {
		m.Version = V0
	}
	m.Header = Header{
		RequiredSignatures: decoded.Header.NumRequiredSignatures,
		ReadonlySigned:     decoded.Header.NumReadonlySignedAccounts,
		ReadonlyUnsigned:   decoded.Header.NumReadonlyUnsignedAccounts,
	}
	m.Blockhash = Key(decoded.RecentBlockhash)
	for _, k := range decoded.AccountKeys {
		m.Keys = append(m.Keys, Key(k))
	}
	for _, l := range decoded.AddressTableLookups {
		m.Lookups = append(m.Lookups, Lookup{Table: Key(l.AccountKey), Writable: l.WritableIndexes,
			Readonly: l.ReadonlyIndexes})
	}
	if err := m.checkHeader(); err != nil {
		return Message{}, err
	}
	if err := m.checkTables(); err != nil {
		return Message{}, err
	}
	if err := m.resolve(decoded.Instructions); err != nil {
		return Message{}, err
	}
	return m, nil
}

// checkEnvelope looks at size and version before anything is decoded.
func checkEnvelope(data []byte) error {
	const versioned, v0 = 0x80, 0x80
	switch {
	case len(data) == 0:
		return refuse("S1", "no bytes")
	case len(data) > MaxSize:
		return refuse("S1", "longer than 1232 bytes")
	case data[0]&versioned != 0 && data[0] != v0:
		return refuse("S1", "a version other than legacy and 0")
	case data[0] == 0x7f:
		// solana-go reads this byte as a version, the runtime as 127 signatures.
		return refuse("S2", "more signatures than keys")
	}
	return nil
}

// decode runs the library under a recover and demands that it writes the same bytes
// again. That covers trailing bytes, short reads and non-minimal lengths at once.
func decode(data []byte) (solana.Message, error) {
	var decoded solana.Message
	var again []byte
	err := guard(func() error {
		// The base64 entry is the one that needs no decoder of another module.
		if err := decoded.UnmarshalBase64(base64.StdEncoding.EncodeToString(data)); err != nil {
			return refuse("S1", "ends too early or has an impossible length")
		}
		var err error
		if again, err = decoded.MarshalBinary(); err != nil {
			return refuse("S1", "cannot be encoded again")
		}
		return nil
	})
	switch {
	case err != nil:
		return solana.Message{}, err
	case len(again) < len(data) && bytes.HasPrefix(data, again):
		return solana.Message{}, refuse("S1", "bytes after the end")
	case !bytes.Equal(again, data):
		return solana.Message{}, refuse("S1", "encoding it again gives other bytes")
	}
	return decoded, nil
}

// guard turns a panic of the library into a refusal.
func guard(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = refuse("S1", "the decoder failed on it")
		}
	}()
	return call()
}

func (m Message) checkHeader() error {
	h, keys := m.Header, len(m.Keys)
	switch {
	case h.RequiredSignatures == 0:
		return refuse("S2", "nobody has to sign")
	case int(h.RequiredSignatures) > keys:
		return refuse("S2", "more signatures than keys")
	case h.ReadonlySigned >= h.RequiredSignatures:
		return refuse("S2", "the fee payer is read-only")
	case int(h.RequiredSignatures)+int(h.ReadonlyUnsigned) > keys:
		return refuse("S2", "more read-only accounts than keys")
	}
	return nil
}

func (m Message) checkTables() error {
	seen := make(map[Key]bool, len(m.Keys))
	for _, k := range m.Keys {
		if seen[k] {
			return refuse("S1", "a key appears twice")
		}
		seen[k] = true
	}
	total := len(m.Keys)
	for _, l := range m.Lookups {
		entries := len(l.Writable) + len(l.Readonly)
		if entries == 0 {
			return refuse("S1", "a lookup table without entries")
		}
		total += entries
	}
	if total > MaxAccounts {
		return refuse("S1", "more than 256 accounts")
	}
	return nil
}

// resolve checks every index and turns it into the account it stands for.
func (m *Message) resolve(compiled []solana.CompiledInstruction) error {
	all := m.Accounts()
	for _, c := range compiled {
		program := int(c.ProgramIDIndex)
		if program == 0 || program >= len(m.Keys) {
			return refuse("S1", "a program that is not a static key, or is the fee payer")
		}
		ix := Instruction{Program: m.Keys[program], Data: bytes.Clone(c.Data)}
		for _, index := range c.Accounts {
			if int(index) >= len(all) {
				return refuse("S1", "an account index outside the tables")
			}
			ix.Accounts = append(ix.Accounts, all[index])
		}
		m.Instructions = append(m.Instructions, ix)
	}
	return nil
}
