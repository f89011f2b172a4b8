package op_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/internal/seeded"
)

// entryPoint is the address of EntryPoint v0.7 (TH-U14).
const entryPoint = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"

// signers are the keys of the differential vectors with their addresses.
type signers struct {
	keys      [seeded.Keys]*ecdsa.PrivateKey
	addresses [seeded.Keys]common.Address
}

func newSigners(t testing.TB) (s signers) {
	t.Helper()
	for i := range s.keys {
		k, err := crypto.ToECDSA(seeded.Key("secp256k1", i))
		if err != nil {
			t.Fatal(err)
		}
		s.keys[i], s.addresses[i] = k, crypto.PubkeyToAddress(k.PublicKey)
	}
	return s
}

// sign signs with the next key of the stream, and recovers it again.
func (s signers) sign(in *seeded.Stream, digest common.Hash) ([]byte, error) {
	i := in.Below(seeded.Keys)
	sig, err := op.Sign(digest, s.keys[i])
	if err != nil {
		return nil, err
	}
	if who, err := op.Recover(digest, sig); err != nil || who != s.addresses[i] {
		return nil, errors.Join(fmt.Errorf("recovered %s, expected %s", who, s.addresses[i]), err)
	}
	return sig, nil
}

// compare compares the results of all items with those in a file; one flipped bit of the file would be a difference.
func compare(t *testing.T, file string, results int, record func(item int) ([]byte, error)) {
	t.Helper()
	c, err := seeded.Compare(filepath.Join("testdata", "differential", file), results*seeded.Short, record)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.NoticesEveryFlip(); err != nil {
		t.Fatal(err)
	}
}

// record is what a file keeps of the results of one item.
func record(results ...[]byte) []byte {
	var out []byte
	for _, r := range results {
		out = append(out, seeded.Sum(r)...)
	}
	return out
}

// drawCallData is mostly short and sometimes several kilobytes.
func drawCallData(s *seeded.Stream) []byte {
	if s.Below(64) == 0 {
		return s.Blob(4096)
	}
	return s.Blob(200)
}

func drawAddress(s *seeded.Stream) common.Address { return common.Address(s.Bytes(20)) }

func drawUserOp(s *seeded.Stream) op.UserOp {
	u := op.UserOp{
		Sender: drawAddress(s), Nonce: s.Number(256), CallData: drawCallData(s), CallGasLimit: s.Number(128),
		VerificationGasLimit: s.Number(128),
		PreVerificationGas:   s.Number(256), MaxFeePerGas: s.Number(128), MaxPriorityFeePerGas: s.Number(128),
	}
	if s.Below(2) == 1 {
		factory := drawAddress(s)
		u.Factory, u.FactoryData = &factory, s.Blob(100)
	}
	if s.Below(2) == 1 {
		paymaster := drawAddress(s)
		u.Paymaster, u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit, u.PaymasterData = &paymaster,
			s.Number(128), s.Number(128), s.Blob(150)
	}
	return u
}

// TestTH_U14_TenThousandUserOperationsAreHashedAndSignedAsByViem reads each operation from its wire form, hashes it,
// and signs its EIP-191 digest.
func TestTH_U14_TenThousandUserOperationsAreHashedAndSignedAsByViem(t *testing.T) {
	who := newSigners(t)
	var shapes [4]atomic.Int32
	compare(t, "user-operations.bin", 3, func(i int) ([]byte, error) {
		s := seeded.New("user operation", i)
		u, err := op.FromWire(drawUserOp(s).Wire())
		if err != nil {
			return nil, err
		}
		shape := 0
		if u.Factory != nil {
			shape++
		}
		if u.Paymaster != nil {
			shape += 2
		}
		shapes[shape].Add(1)
		at := common.HexToAddress(entryPoint)
		if s.Below(4) == 0 {
			at = drawAddress(s)
		}
		hash, err := u.Hash(at, s.Positive(256))
		if err != nil {
			return nil, err
		}
		digest := op.EIP191(hash)
		sig, err := who.sign(s, digest)
		return record(hash[:], digest[:], sig), err
	})
	for i := range shapes {
		if n := shapes[i].Load(); n < seeded.Count/5 {
			t.Errorf("%d operations with factory %v and paymaster %v", n, i&1 != 0, i&2 != 0)
		}
	}
}

// TestTH_T7_TenThousandApprovalsAreHashedAndSignedAsByViem reads each document as it comes over the wire.
func TestTH_T7_TenThousandApprovalsAreHashedAndSignedAsByViem(t *testing.T) {
	who := newSigners(t)
	compare(t, "typed-data.bin", 3, func(i int) ([]byte, error) {
		s := seeded.New("typed data", i)
		d := op.Domain{Name: s.Text(64), Version: s.Text(64), ChainID: s.Positive(64).Uint64(),
			VerifyingContract: drawAddress(s)}
		hash := op.CallDataAndNonceHash(drawAddress(s), drawCallData(s), s.Number(256))
		w := d.ApproveWire(hash)
		if s.Below(2) == 1 {
			w.Types["EIP712Domain"] = []api.TypedDataField{
				{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"},
				{Name: "verifyingContract", Type: "address"},
			}
		}
		raw, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		td, err := strictTypedData(raw)
		if err != nil {
			return nil, err
		}
		read, carried, err := op.CheckTypedData(td)
		if err != nil {
			return nil, err
		}
		if read != d || carried != hash {
			return nil, errors.New("the document reads as another one")
		}
		digest := read.ApproveDigest(carried)
		sig, err := who.sign(s, digest)
		return record(hash[:], digest[:], sig), err
	})
}

// TestTH_D3_TenThousandAuthorizationsAreHashedAndSignedAsByViem takes each signature through its wire form where a JSON
// number can carry the chain id.
func TestTH_D3_TenThousandAuthorizationsAreHashedAndSignedAsByViem(t *testing.T) {
	who := newSigners(t)
	compare(t, "authorizations.bin", 2, func(i int) ([]byte, error) {
		s := seeded.New("authorization", i)
		bits := 53
		if s.Below(4) == 0 {
			bits = 256
		}
		a := op.Authorization{ChainID: s.Positive(bits), Address: drawAddress(s), Nonce: s.Number(53).Uint64()}
		k := s.Below(seeded.Keys)
		signed, err := a.Sign(who.keys[k])
		if err != nil {
			return nil, err
		}
		if authority, err := signed.Authority(); err != nil || authority != who.addresses[k] {
			return nil, errors.Join(fmt.Errorf("authority %s, expected %s", authority, who.addresses[k]), err)
		}
		if err := roundTrip(signed); err != nil {
			return nil, err
		}
		hash := a.Hash()
		return record(hash[:], bytes.Join([][]byte{signed.R[:], signed.S[:], {27 + signed.YParity}}, nil)), nil
	})
}

// roundTrip writes a signed authorization and reads it again, if its chain id has a wire form.
func roundTrip(signed op.SignedAuthorization) error {
	if signed.ChainID.BitLen() > 53 {
		return nil
	}
	back, err := op.AuthorizationFromWire(signed.Wire())
	if err != nil {
		return err
	}
	if back.Hash() != signed.Hash() || back.R != signed.R || back.S != signed.S || back.YParity != signed.YParity {
		return errors.New("the wire form reads as another one")
	}
	return nil
}
