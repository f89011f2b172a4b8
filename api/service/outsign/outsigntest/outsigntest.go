// Package outsigntest has signers outside a program for tests: they answer as web3signer and clef do.
package outsigntest

import (
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/ethereum/go-ethereum/signer/fourbyte"

	"coffer/api/op"
)

// Sign signs a digest with a key in hexadecimal: 65 bytes with v 27 or 28. A wrong key panics.
func Sign(keyHex string, digest []byte) []byte {
	key, err := crypto.HexToECDSA(keyHex)
	if err != nil {
		panic(err)
	}
	sig, err := crypto.Sign(digest, key)
	if err != nil {
		panic(err)
	}
	sig[64] += 27
	return sig
}

// Web3Signer answers for one key as the interface of Consensys Web3Signer says (openapi-specs/eth1/web3signer.yaml,
// version 1.1.0); spoil may change what it signed.
func Web3Signer(keyHex string, spoil func([]byte) []byte) http.Handler {
	key, _ := crypto.HexToECDSA(keyHex)
	id := hexutil.Encode(crypto.FromECDSAPub(&key.PublicKey)[1:])
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/eth1/publicKeys", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]string{"0x00", id})
	})
	mux.HandleFunc("POST /api/v1/eth1/sign/{identifier}", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		err := json.NewDecoder(r.Body).Decode(&body)
		data, bad := hexutil.Decode(body["data"])
		switch {
		case err != nil || bad != nil || len(data) == 0 || r.Header.Get("Content-Type") != "application/json":
			w.WriteHeader(http.StatusBadRequest)
			return
		case strings.TrimPrefix(r.PathValue("identifier"), "0x") != id[2:]:
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, hexutil.Encode(spoil(Sign(keyHex, crypto.Keccak256(data)))))
	})
	return mux
}

// Clef answers as geth's signer for a chain does, with geth's own reading of transactions and typed data. What geth
// warns of is refused.
func Clef(keyHex string, chain int64, spoil func([]byte) []byte) http.Handler {
	known, err := fourbyte.New()
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Method string
			Params []json.RawMessage
		}
		if json.NewDecoder(r.Body).Decode(&call) != nil {
			return
		}
		result, err := clefAnswer(keyHex, chain, known, call.Method, call.Params, spoil)
		answer := map[string]any{"jsonrpc": "2.0", "id": 1, "result": result}
		if err != nil {
			answer = map[string]any{"jsonrpc": "2.0", "id": 1, "error": map[string]any{"code": -32000,
				"message": err.Error()}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// judged is what geth warns of in a transaction, of which the caller may name the function.
func judged(known *fourbyte.Database, args *apitypes.SendTxArgs, more []json.RawMessage) error {
	var function *string
	if len(more) > 0 {
		if err := json.Unmarshal(more[0], &function); err != nil {
			return err
		}
	}
	says, err := known.ValidateTransaction(function, args)
	if err != nil {
		return err
	}
	return says.GetWarnings()
}

func clefAnswer(keyHex string, chain int64, known *fourbyte.Database, method string, params []json.RawMessage,
	spoil func([]byte) []byte) (any, error) {
	switch method {
	case "account_signTransaction":
		var args apitypes.SendTxArgs
		if err := json.Unmarshal(params[0], &args); err != nil {
			return nil, err
		}
		if err := judged(known, &args, params[1:]); err != nil {
			return nil, err
		}
		if args.ChainID.ToInt().Cmp(big.NewInt(chain)) != 0 {
			return nil, errors.New("requested chainid does not match the configuration of the signer")
		}
		tx, err := args.ToTransaction()
		if err != nil {
			return nil, err
		}
		s := types.LatestSignerForChainID(args.ChainID.ToInt())
		digest := s.Hash(tx)
		sig := spoil(Sign(keyHex, digest[:]))
		sig[64] -= 27
		if tx, err = tx.WithSignature(s, sig); err != nil {
			return nil, err
		}
		raw, err := tx.MarshalBinary()
		return map[string]any{"raw": hexutil.Bytes(raw), "tx": tx}, err
	case "account_signData":
		var data hexutil.Bytes
		if err := json.Unmarshal(params[2], &data); err != nil || string(params[0]) != `"text/plain"` {
			return nil, errors.New("not text/plain")
		}
		return hexutil.Bytes(spoil(Sign(keyHex, op.EIP191Message(data).Bytes()))), nil
	case "account_signTypedData":
		var doc apitypes.TypedData
		if err := json.Unmarshal(params[1], &doc); err != nil {
			return nil, err
		}
		digest, _, err := apitypes.TypedDataAndHash(doc)
		if err != nil {
			return nil, err
		}
		return hexutil.Bytes(spoil(Sign(keyHex, digest))), nil
	}
	return nil, errors.New("request denied")
}
