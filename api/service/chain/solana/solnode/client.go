// Package solnode asks the nodes of a Solana chain that belongs to others, by JSON-RPC.
//
// Promise: nothing of an answer is used before it was found to have its form: as many accounts as were asked for, keys
// and hashes of 32 bytes, data of the size that it says. An endpoint that serves another chain than the file names, by
// its first block, answers nothing. What money hangs on is what a quorum of the endpoints says.
//
// Units: lamports and token base units as uint64, times in Unix seconds.
package solnode

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"

	"coffer/api/networks"
	"coffer/api/op/solmsg"
	"coffer/api/rpcpool"
	"coffer/api/service/chain/solana"
)

// Client asks the nodes of one chain. It is safe for concurrent use. Close it at the end.
type Client struct {
	Pool *rpcpool.Pool

	final string // the commitment at which a transaction stays
	cap   uint64 // lamports
}

// Open makes the client of a file's Solana chain. It asks nothing.
func Open(ctx context.Context, file *networks.File, credential networks.Credential, log *slog.Logger) (*Client, error) {
	s := file.Solana
	urls := make([]rpcpool.Endpoint, len(s.RPC))
	var err error
	for i, url := range s.RPC {
		if urls[i].URL, urls[i].Secrets, err = file.ExpandSolana(ctx, url, credential); err != nil {
			return nil, err
		}
	}
	pool, err := rpcpool.New(rpcpool.Options{URLs: urls, Solana: s.ID.Reference, Quorum: s.Quorum, Log: log})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Where(s.Line), err)
	}
	return &Client{Pool: pool, final: s.Commitment(), cap: s.FeeCap}, nil
}

// Close ends what is under way.
func (c *Client) Close() { c.Pool.Close() }

// Commitments of Solana.
const (
	Confirmed = "confirmed"
	Finalized = "finalized"
)

// errForm says that an answer has not the form of its method.
var errForm = errors.New("the answer of the node has another form")

// config is the last parameter of most methods.
type config struct {
	Commitment string `json:"commitment,omitempty"`
	Encoding   string `json:"encoding,omitempty"`
}

// Genesis is the hash of the chain's first block, as a quorum has it.
func (c *Client) Genesis(ctx context.Context) (solmsg.Key, error) {
	var hash string
	if err := c.Pool.Agreed(ctx, &hash, "getGenesisHash"); err != nil {
		return solmsg.Key{}, err
	}
	k, err := solmsg.ParseKey(hash)
	if err != nil {
		return k, fmt.Errorf("getGenesisHash: %w", errForm)
	}
	return k, nil
}

// Slot is the newest slot of a commitment, as any node has it.
func (c *Client) Slot(ctx context.Context, commitment string) (slot uint64, err error) {
	err = c.Pool.Call(ctx, &slot, "getSlot", config{Commitment: commitment})
	return slot, err
}

// BlockTime is when a slot was, in Unix seconds.
func (c *Client) BlockTime(ctx context.Context, slot uint64) (at int64, err error) {
	err = c.Pool.Call(ctx, &at, "getBlockTime", slot)
	return at, err
}

// mostAccounts is how many accounts a node reads at once.
const mostAccounts = 100

// Account is an account as nodes describe it.
type Account struct {
	solana.Account
	Executable bool
}

// Accounts reads accounts of the newest confirmed state, in the order of the keys; one that does not exist has no
// lamports. Agreed asks a quorum.
func (c *Client) Accounts(ctx context.Context, agreed bool, keys ...solmsg.Key) (all []Account, err error) {
	for len(keys) > 0 {
		part := keys[:min(len(keys), mostAccounts)]
		keys = keys[len(part):]
		names := make([]string, len(part))
		for i, k := range part {
			names[i] = k.String()
		}
		var got wireAccounts
		ask := c.Pool.Call
		if agreed {
			ask = c.Pool.Agreed
		}
		if err := ask(ctx, &got, "getMultipleAccounts", names, config{Confirmed, "base64"}); err != nil {
			return nil, err
		}
		some, err := got.read(len(part))
		if err != nil {
			return nil, fmt.Errorf("getMultipleAccounts: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// wireAccounts is the answer to getMultipleAccounts.
type wireAccounts struct {
	Value []*wireAccount `json:"value"`
}

type wireAccount struct {
	Lamports   uint64   `json:"lamports"`
	Owner      string   `json:"owner"`
	Data       []string `json:"data"`
	Executable bool     `json:"executable"`
}

func (w wireAccounts) read(n int) ([]Account, error) {
	if len(w.Value) != n {
		return nil, fmt.Errorf("%w: %d accounts for %d keys", errForm, len(w.Value), n)
	}
	out := make([]Account, n)
	for i, a := range w.Value {
		if a == nil {
			continue
		}
		owner, err := solmsg.ParseKey(a.Owner)
		if err != nil || len(a.Data) != 2 || a.Data[1] != "base64" {
			return nil, errForm
		}
		data, err := base64.StdEncoding.Strict().DecodeString(a.Data[0])
		if err != nil {
			return nil, errForm
		}
		out[i] = Account{solana.Account{Lamports: a.Lamports, Owner: owner, Data: data}, a.Executable}
	}
	return out, nil
}
