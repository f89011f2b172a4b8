// Package outsign has keys that are outside this program sign: those of web3signer and of clef, over HTTP, and of a
// command (docs/signer.md#a-services-keys).
//
// Promise: a signature leaves this package only if the key of the signer's address made it, over exactly what was
// given. Nothing that goes out is secret. What comes back is at most 64 KiB and shown cleaned and cut; no redirect is
// followed; a signature takes two minutes at most, as a person may have to look at it.
package outsign

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/signers"
	"coffer/api/text"
)

// Bounds of the conversation with a signer.
const (
	within    = 2 * time.Minute
	maxAnswer = 64 << 10 // bytes
	maxWhy    = 200      // characters
)

// ErrSigner says that a signer outside this program gave no signature that can be used.
var ErrSigner = errors.New("the signer gave no signature")

// Options say which signer. Network is the id of the network whose key it has, RootCAs those that a certificate
// follows from, nil for the system's.
type Options struct {
	networks.Signer
	Network string
	RootCAs *x509.CertPool
	Within  time.Duration // 0 for the usual
}

// way is how a kind of signer is asked. What it returns has 65 bytes, of which the last is 0, 1, 27 or 28.
type way interface {
	transaction(ctx context.Context, tx *types.Transaction, chainID *big.Int) ([]byte, error)
	message(ctx context.Context, message common.Hash) ([]byte, error)
	attestation(ctx context.Context, a escrow.Attestation) ([]byte, error)
}

// Key is the key of a signer outside this program. It is safe for concurrent use.
type Key struct {
	at  common.Address
	way way
}

var (
	_ signers.EVM      = (*Key)(nil)
	_ signers.Attester = (*Key)(nil)
)

// New makes a key. It asks nothing.
func New(o Options) *Key {
	if o.Within == 0 {
		o.Within = within
	}
	k := &Key{at: o.Address}
	at := func(url string) web {
		return web{url: strings.TrimSuffix(url, "/"), within: o.Within, client: &http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
				DisableKeepAlives: true, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it sends elsewhere") },
		}}
	}
	switch o.Kind {
	case networks.Web3Signer:
		k.way = &web3signer{web: at(o.URL), at: o.Address}
	case networks.Clef:
		c := &clef{web: at(o.URL), at: o.Address, chains: map[uint64]web{}}
		for id, url := range o.Chains {
			c.chains[id] = at(url)
		}
		k.way = c
	default:
		k.way = command{words: o.Command, at: o.Address, network: o.Network, within: o.Within}
	}
	return k
}

// Address implements signers.EVM and signers.Attester.
func (k *Key) Address() common.Address { return k.at }

// SignTx implements signers.EVM.
func (k *Key) SignTx(ctx context.Context, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error) {
	s := types.LatestSignerForChainID(chainID)
	sig, err := k.way.transaction(ctx, tx, chainID)
	if err == nil {
		sig, err = k.own(s.Hash(tx), sig)
	}
	if err != nil {
		return nil, err
	}
	sig[64] -= 27
	return tx.WithSignature(s, sig)
}

// SignMessage implements signers.EVM.
func (k *Key) SignMessage(ctx context.Context, message common.Hash) ([]byte, error) {
	sig, err := k.way.message(ctx, message)
	if err != nil {
		return nil, err
	}
	return k.own(op.EIP191(message), sig)
}

// SignAttestation implements signers.Attester.
func (k *Key) SignAttestation(ctx context.Context, a escrow.Attestation) ([]byte, error) {
	sig, err := k.way.attestation(ctx, a)
	if err != nil {
		return nil, err
	}
	return k.own(a.Digest(), sig)
}

// own is a signature in the form of this program, if the key made it.
func (k *Key) own(digest common.Hash, sig []byte) ([]byte, error) {
	if len(sig) == op.SignatureLength && sig[64] < 2 {
		sig[64] += 27
	}
	if by, err := op.Recover(digest, sig); err != nil || by != k.at {
		return nil, fmt.Errorf("%w: what it gave is not of the key of %s", ErrSigner, k.at.Hex())
	}
	return sig, nil
}

// preimage is what the hash that is signed of a transaction is made of.
func preimage(tx *types.Transaction, chainID *big.Int) ([]byte, error) {
	raw, err := tx.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var prefix []byte
	if tx.Type() != types.LegacyTxType {
		prefix, raw = raw[:1], raw[1:]
	}
	var fields []rlp.RawValue
	if err := rlp.DecodeBytes(raw, &fields); err != nil || len(fields) < 3 {
		return nil, errors.New("a transaction has no signed form")
	}
	fields = fields[:len(fields)-3] // without the signature
	if tx.Type() == types.LegacyTxType {
		id, err := rlp.EncodeToBytes(chainID)
		if err != nil {
			return nil, err
		}
		fields = append(fields, id, rlp.RawValue{0x80}, rlp.RawValue{0x80}) // EIP-155
	}
	encoded, err := rlp.EncodeToBytes(fields)
	return append(prefix, encoded...), err
}

// web asks over HTTP.
type web struct {
	client *http.Client
	url    string
	within time.Duration
}

// ask sends a request once and returns the answer's body, if the status is 200.
func (w web) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its address cannot be asked", ErrSigner)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := w.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: it does not answer: %s", ErrSigner, text.Clean(err.Error(), maxWhy))
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch err = errors.Join(err, res.Body.Close()); {
	case err != nil || len(raw) > maxAnswer:
		return nil, fmt.Errorf("%w: its answer broke off or is too long", ErrSigner)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: it answered %d: %s", ErrSigner, res.StatusCode, text.Clean(string(raw), maxWhy))
	}
	return raw, nil
}
