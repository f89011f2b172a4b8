package vault

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"coffer/api/op"
)

// The derivation of keys from a seed: BIP-32 for secp256k1 and SLIP-10 for ed25519, along the paths of BIP-44.
const (
	hardened   = 1 << 31
	coinSolana = 501
	maxSteps   = 10
)

func defaultPath(kind Kind) string {
	if kind == Solana {
		return "m/44'/501'/0'/0'"
	}
	return "m/44'/60'/0'/0/0"
}

// parsePath reads "m/44'/60'/0'/0/0"; h and H mean ' as well. A number is below 2^31 and has no sign and no zero in
// front.
func parsePath(path string) ([]uint32, error) {
	wrong := bad(FormMnemonic, "a derivation path looks like m/44'/60'/0'/0/0")
	root, rest, more := strings.Cut(path, "/")
	if root != "m" || more && rest == "" {
		return nil, wrong
	}
	var steps []uint32
	for more {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		digits := strings.TrimRight(part, "'hH")
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || strconv.FormatUint(n, 10) != digits || len(part)-len(digits) > 1 || len(steps) == maxSteps {
			return nil, wrong
		}
		step := uint32(n)
		if len(part) > len(digits) {
			step |= hardened
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// node is a private key and its chain code.
type node struct{ key, chain [32]byte }

func (n *node) wipe() {
	clear(n.key[:])
	clear(n.chain[:])
}

// derive returns the 32 bytes of the key at the path; the caller wipes them.
func derive(kind Kind, seed []byte, path string) ([]byte, error) {
	steps, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	n, err := master(kind, seed)
	defer n.wipe()
	for _, step := range steps {
		if err != nil {
			break
		}
		err = n.child(kind, step)
	}
	if err != nil {
		return nil, err
	}
	return append(make([]byte, 0, keySize), n.key[:]...), nil
}

func master(kind Kind, seed []byte) (node, error) {
	name := "Bitcoin seed"
	if kind == Solana {
		name = "ed25519 seed"
	}
	var n node
	n.set(hmac512([]byte(name), seed))
	if kind == EVM {
		key, ok := scalar(n.key[:])
		if !ok {
			return n, bad(FormMnemonic, "these words lead to no key")
		}
		key.Zero()
	}
	return n, nil
}

// set takes over the 64 bytes of a derivation and wipes them.
func (n *node) set(sum []byte) {
	copy(n.key[:], sum[:32])
	copy(n.chain[:], sum[32:])
	clear(sum)
}

func hmac512(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha512.New, key)
	for _, p := range parts {
		mac.Write(p)
	}
	return mac.Sum(nil)
}

// child replaces the node by its child.
func (n *node) child(kind Kind, step uint32) error {
	number := binary.BigEndian.AppendUint32(nil, step)
	if kind == Solana {
		if step < hardened {
			return bad(FormMnemonic, "every part of a Solana path is hardened, as in m/44'/501'/0'/0'")
		}
		n.set(hmac512(n.chain[:], []byte{0}, n.key[:], number))
		return nil
	}
	parent, ok := scalar(n.key[:])
	if !ok {
		return bad(FormMnemonic, "this path leads to no key; use the next one")
	}
	defer parent.Zero()
	var sum []byte
	if step >= hardened {
		sum = hmac512(n.chain[:], []byte{0}, n.key[:], number)
	} else {
		sum = hmac512(n.chain[:], op.PublicOf(parent).SerializeCompressed(), number)
	}
	var add secp256k1.ModNScalar
	defer add.Zero()
	if overflow := add.SetByteSlice(sum[:32]); overflow || add.Add(&parent.Key).IsZero() {
		clear(sum)
		return bad(FormMnemonic, "this path leads to no key; use the next one")
	}
	n.set(sum)
	add.PutBytesUnchecked(n.key[:])
	return nil
}
