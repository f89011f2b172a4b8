package outsign

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/signcmd"
	"coffer/api/text"
)

// web3signer is the ETH1 interface of Consensys Web3Signer. It names keys by their public key and signs the Keccak hash
// of what it is given, so that it takes the preimage of any document.
type web3signer struct {
	web
	at common.Address

	mu sync.Mutex
	id string // of the key, once it is known
}

func (w *web3signer) transaction(ctx context.Context, tx *types.Transaction, chainID *big.Int) ([]byte, error) {
	raw, err := preimage(tx, chainID)
	if err != nil {
		return nil, err
	}
	return w.sign(ctx, raw)
}

func (w *web3signer) message(ctx context.Context, message common.Hash) ([]byte, error) {
	return w.sign(ctx, append([]byte("\x19Ethereum Signed Message:\n32"), message[:]...))
}

func (w *web3signer) attestation(ctx context.Context, a escrow.Attestation) ([]byte, error) {
	return w.sign(ctx, a.Preimage())
}

func (w *web3signer) sign(ctx context.Context, data []byte) ([]byte, error) {
	id, err := w.key(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"data": hexutil.Encode(data)})
	if err != nil {
		return nil, err
	}
	raw, err := w.ask(ctx, http.MethodPost, "/api/v1/eth1/sign/"+id, body)
	if err != nil {
		return nil, err
	}
	return signature(strings.Trim(string(bytes.TrimSpace(raw)), `"`))
}

// key finds the public key of the address among those that the signer lists.
func (w *web3signer) key(ctx context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id != "" {
		return w.id, nil
	}
	raw, err := w.ask(ctx, http.MethodGet, "/api/v1/eth1/publicKeys", nil)
	if err != nil {
		return "", err
	}
	var listed []string
	if err := json.Unmarshal(raw, &listed); err != nil {
		return "", fmt.Errorf("%w: its list of keys is something else", ErrSigner)
	}
	for _, id := range listed {
		if at, ok := addressOf(id); ok && at == w.at {
			w.id = id
			return id, nil
		}
	}
	return "", fmt.Errorf("%w: it has no key of %s", ErrSigner, w.at.Hex())
}

// addressOf is the address of a public key in hexadecimal.
func addressOf(id string) (common.Address, bool) {
	raw, err := hex.DecodeString(strings.TrimPrefix(id, "0x"))
	if err != nil {
		return common.Address{}, false
	}
	switch len(raw) {
	case 33:
		key, err := crypto.DecompressPubkey(raw)
		if err != nil {
			return common.Address{}, false
		}
		return crypto.PubkeyToAddress(*key), true
	case 64:
		raw = append([]byte{4}, raw...)
	}
	key, err := crypto.UnmarshalPubkey(raw)
	if err != nil {
		return common.Address{}, false
	}
	return crypto.PubkeyToAddress(*key), true
}

// signature reads 65 bytes in hexadecimal.
func signature(s string) ([]byte, error) {
	sig, err := hexutil.Decode(s)
	if err != nil || len(sig) != op.SignatureLength {
		return nil, fmt.Errorf("%w: its answer is no signature of 65 bytes", ErrSigner)
	}
	return sig, nil
}

// clef is the external interface of geth's signer. It makes transactions itself, none that carries an authorization,
// and those of one chain alone, so that there may be others for more chains.
type clef struct {
	web
	at     common.Address
	chains map[uint64]web
}

// functions are those that an operator's key calls. Clef knows none of them, and refuses what it cannot decode.
func functions() []string {
	return []string{filler.FillSignature, filler.RunSignature, filler.VoidSignature, filler.RefundSignature,
		escrow.ReleaseSignature, escrow.RefundSignature}
}

func (c *clef) transaction(ctx context.Context, tx *types.Transaction, chainID *big.Int) ([]byte, error) {
	if tx.Type() != types.DynamicFeeTxType {
		return nil, fmt.Errorf("%w: clef makes no transaction of type %d; accounts of kind EIP-7702 need another "+
			"signer", ErrSigner, tx.Type())
	}
	args := map[string]any{"from": c.at.Hex(), "gas": hexutil.Uint64(tx.Gas()), "nonce": hexutil.Uint64(tx.Nonce()),
		"maxFeePerGas": (*hexutil.Big)(tx.GasFeeCap()), "maxPriorityFeePerGas": (*hexutil.Big)(tx.GasTipCap()),
		"value": (*hexutil.Big)(tx.Value()), "input": hexutil.Bytes(tx.Data()), "chainId": (*hexutil.Big)(chainID)}
	if to := tx.To(); to != nil {
		args["to"] = to.Hex()
	}
	params := []any{args}
	for _, f := range functions() {
		if bytes.HasPrefix(tx.Data(), crypto.Keccak256([]byte(f))[:4]) {
			params = append(params, f)
		}
	}
	of, has := c.chains[chainID.Uint64()]
	if !has {
		of = c.web
	}
	var made struct {
		Raw hexutil.Bytes `json:"raw"`
	}
	if err := of.call(ctx, &made, "account_signTransaction", params...); err != nil {
		return nil, err
	}
	var signed types.Transaction
	if err := signed.UnmarshalBinary(made.Raw); err != nil {
		return nil, fmt.Errorf("%w: its answer is no transaction", ErrSigner)
	}
	s := types.LatestSignerForChainID(chainID)
	if s.Hash(&signed) != s.Hash(tx) {
		return nil, fmt.Errorf("%w: it signed another transaction than it was given", ErrSigner)
	}
	v, r, low := signed.RawSignatureValues()
	if v == nil || !v.IsUint64() || v.Uint64() > 1 || r.BitLen() > 256 || low.BitLen() > 256 {
		return nil, fmt.Errorf("%w: its answer is no transaction", ErrSigner)
	}
	sig := make([]byte, op.SignatureLength)
	r.FillBytes(sig[:32])
	low.FillBytes(sig[32:64])
	sig[64] = byte(v.Uint64())
	return sig, nil
}

func (c *clef) message(ctx context.Context, message common.Hash) ([]byte, error) {
	return c.signed(ctx, "account_signData", "text/plain", c.at.Hex(), hexutil.Encode(message[:]))
}

func (c *clef) attestation(ctx context.Context, a escrow.Attestation) ([]byte, error) {
	return c.signed(ctx, "account_signTypedData", c.at.Hex(), a.TypedData())
}

func (c *clef) signed(ctx context.Context, method string, params ...any) ([]byte, error) {
	var said string
	if err := c.call(ctx, &said, method, params...); err != nil {
		return nil, err
	}
	return signature(said)
}

// call calls a method by JSON-RPC.
func (w web) call(ctx context.Context, into any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	raw, err := w.ask(ctx, http.MethodPost, "", body)
	if err != nil {
		return err
	}
	return readRPC(raw, into)
}

// readRPC reads an answer of clef.
func readRPC(raw []byte, into any) error {
	answer := struct {
		Result any `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}{Result: into}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("%w: its answer is something else", ErrSigner)
	}
	if answer.Error != nil {
		return fmt.Errorf("%w: it says: %s", ErrSigner, text.Clean(answer.Error.Message, maxWhy))
	}
	return nil
}

// command is a program that signs, as of a wallet.
type command struct {
	words   []string
	at      common.Address
	network string
	within  time.Duration
}

// request is what a command reads: the members that a wallet writes, too, and what the digest is made of.
type request struct {
	Version int     `json:"version"`
	Network string  `json:"network"`
	Kind    string  `json:"kind"`
	Address string  `json:"address"`
	Digest  string  `json:"digest"`
	Chain   string  `json:"chain,omitzero"`
	Content content `json:"content"`
}

// content is what the digest is made of: Preimage is hashed with Keccak-256; Transaction is its unsigned form, and
// TypedData a document of EIP-712.
type content struct {
	Scheme      string         `json:"scheme"`
	Preimage    string         `json:"preimage"`
	Transaction *unsigned      `json:"transaction,omitzero"`
	Message     string         `json:"message,omitzero"`
	TypedData   map[string]any `json:"typedData,omitzero"`
}

// unsigned is a transaction for a person or a program to judge.
type unsigned struct {
	Type     hexutil.Uint64  `json:"type"`
	To       *common.Address `json:"to"`
	Nonce    hexutil.Uint64  `json:"nonce"`
	Gas      hexutil.Uint64  `json:"gas"`
	Value    *hexutil.Big    `json:"value"`
	Most     *hexutil.Big    `json:"maxFeePerGas"`
	Tip      *hexutil.Big    `json:"maxPriorityFeePerGas"`
	Data     hexutil.Bytes   `json:"data"`
	Allowing int             `json:"authorizations"`
}

// The kinds of requests of a service, and how their digests are made.
const (
	kindTransaction = "transaction"
	kindMessage     = "message"
	kindAttestation = "attestation"

	schemeTransaction = "eip2718"
	schemeMessage     = "eip191"
	schemeAttestation = "eip712"

	requestVersion = 2
)

func (c command) transaction(ctx context.Context, tx *types.Transaction, chainID *big.Int) ([]byte, error) {
	raw, err := preimage(tx, chainID)
	if err != nil {
		return nil, err
	}
	digest := types.LatestSignerForChainID(chainID).Hash(tx)
	return c.ask(ctx, kindTransaction, chainID.Uint64(), digest, content{Scheme: schemeTransaction,
		Preimage: hexutil.Encode(raw), Transaction: &unsigned{Type: hexutil.Uint64(tx.Type()), To: tx.To(),
			Nonce: hexutil.Uint64(tx.Nonce()), Gas: hexutil.Uint64(tx.Gas()), Value: (*hexutil.Big)(tx.Value()),
			Most: (*hexutil.Big)(tx.GasFeeCap()), Tip: (*hexutil.Big)(tx.GasTipCap()), Data: tx.Data(),
			Allowing: len(tx.SetCodeAuthorizations())}})
}

func (c command) message(ctx context.Context, message common.Hash) ([]byte, error) {
	raw := append([]byte("\x19Ethereum Signed Message:\n32"), message[:]...)
	return c.ask(ctx, kindMessage, 0, op.EIP191(message), content{Scheme: schemeMessage,
		Preimage: hexutil.Encode(raw), Message: message.Hex()})
}

func (c command) attestation(ctx context.Context, a escrow.Attestation) ([]byte, error) {
	return c.ask(ctx, kindAttestation, a.ChainID, a.Digest(), content{Scheme: schemeAttestation,
		Preimage: hexutil.Encode(a.Preimage()), TypedData: a.TypedData()})
}

func (c command) ask(ctx context.Context, kind string, chainID uint64, digest common.Hash, of content) ([]byte, error) {
	r := request{Version: requestVersion, Network: c.network, Kind: kind, Address: c.at.Hex(), Digest: digest.Hex(),
		Content: of}
	if chainID != 0 {
		r.Chain = caip.EVM(chainID).String()
	}
	return signcmd.Command{Words: c.words, Timeout: c.within}.Recoverable(ctx, r)
}
