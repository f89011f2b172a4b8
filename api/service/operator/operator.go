// Package operator prepares networks on a person's own nodes: what `coffer network init`, `check`, `deploy` and
// `genesis` do and print.
//
// Promise: no endpoint is named but those of the file. Check changes nothing. Deploy sends nothing before the code at
// every pinned address of every chain was compared, and puts nothing where something is; what is there and differs is
// a *pinned.DifferenceError. Of an endpoint, only scheme and host are printed.
//
// Units: gas prices and costs are wei. Sources: docs/networks.md.
package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain/evm"
	"coffer/api/service/pinned"
)

// Options are what check and deploy work with. Credential finds what an endpoint names as ${vault:NAME}. JSON prints
// the result as JSON.
type Options struct {
	File       string
	Credential networks.Credential
	Clock      func() time.Time
	JSON       bool
	Out        io.Writer
}

// node is a chain with its endpoints, and the contracts that it should have.
type node struct {
	networks.Chain
	file   *networks.File
	pool   *rpcpool.Pool
	wanted []pinned.Contract
}

// nodes opens the file and its endpoints, which closeAll closes.
func (o Options) nodes(ctx context.Context) (file *networks.File, all []*node, closeAll func(), err error) {
	closeAll = func() {
		for _, n := range all {
			n.pool.Close()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	if file, err = networks.Load(o.File); err != nil {
		return nil, nil, closeAll, err
	}
	for _, c := range file.Chains {
		urls := make([]rpcpool.Endpoint, len(c.RPC))
		for i, url := range c.RPC {
			urls[i].URL, urls[i].Secrets, err = file.Expand(ctx, c, url, o.Credential)
			if err != nil {
				return nil, nil, closeAll, err
			}
		}
		p, err := rpcpool.New(rpcpool.Options{URLs: urls, ChainID: c.ID, Quorum: c.Quorum, Clock: o.Clock})
		if err != nil {
			return nil, nil, closeAll, fmt.Errorf("%s: %w", file.Where(c.Line), err)
		}
		all = append(all, &node{Chain: c, file: file, pool: p})
	}
	shared, err := pinned.All()
	if err != nil {
		return nil, nil, closeAll, err
	}
	for _, n := range all {
		n.wanted = shared
	}
	return file, all, closeAll, nil
}

// each does something with all chains at once.
func each(ctx context.Context, all []*node, do func(context.Context, *node) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range all {
		group.Go(func() error {
			if err := do(ctx, n); err != nil {
				return fmt.Errorf("%s (%d): %w", n.Name, n.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// there are the pinned contracts of a chain: those with the right code, and those without any.
type there struct {
	deployer bool
	has      map[string]bool
	missing  []pinned.Contract
	approved bool
}

// look compares the code at every pinned address. What it says is what a quorum of the endpoints says.
func (n *node) look(ctx context.Context) (there, error) {
	t := there{has: map[string]bool{}}
	placed, err := n.code(ctx, deployer())
	if err != nil {
		return t, err
	}
	t.deployer = bytes.Equal(placed, evm.DeterministicDeployerCode())
	if !t.deployer && len(placed) > 0 {
		return t, &pinned.DifferenceError{Chain: n.ID, Name: "the deterministic deployer", At: deployer(),
			Expected: crypto.Keccak256Hash(evm.DeterministicDeployerCode()), Found: crypto.Keccak256Hash(placed)}
	}
	var different error
	for _, c := range n.wanted {
		code, err := n.code(ctx, c.At)
		if err != nil {
			return t, err
		}
		found, err := c.Check(n.ID, code)
		if different = errors.Join(different, err); err == nil && found {
			t.has[c.Name] = true
		} else if !found {
			t.missing = append(t.missing, c)
		}
	}
	if different != nil {
		return t, different
	}
	if t.has[pinned.MetaFactory] {
		at, slot, err := pinned.Approval()
		if err != nil {
			return t, err
		}
		var value hexutil.Bytes
		if err := n.pool.Agreed(ctx, &value, "eth_getStorageAt", at, slot, "latest"); err != nil {
			return t, err
		}
		t.approved = pinned.Approved(value)
	}
	return t, nil
}

func (n *node) code(ctx context.Context, at common.Address) (code hexutil.Bytes, err error) {
	err = n.pool.Agreed(ctx, &code, "eth_getCode", at, "latest")
	return code, err
}

// block is what is read of a block.
type block struct {
	Number       hexutil.Uint64 `json:"number"`
	Hash         common.Hash    `json:"hash"`
	Time         hexutil.Uint64 `json:"timestamp"`
	BaseFee      *hexutil.Big   `json:"baseFeePerGas"`
	RequestsHash *common.Hash   `json:"requestsHash"`
}

func (n *node) block(ctx context.Context, which string) (b block, err error) {
	err = n.pool.Call(ctx, &b, "eth_getBlockByNumber", which, false)
	return b, err
}

// coins writes an amount of the native coin.
func (n *node) coins(wei *big.Int) string { return human(wei) + " " + n.Coin.Symbol }
