package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/erc20"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/renew"
)

// renewal says how the network of a directory is made anew.
func (o Options) renewal(dir string) renew.Options {
	return renew.Options{
		Dir: dir, Database: DatabaseFile, Descriptor: NetworkFile, Log: o.Log, ExplorerBase: o.explorer(),
		Installation: devnet.Options{Clock: o.Clock, Random: o.Random, Kind: o.Kind,
			Catalog: filepath.Join(dir, catalog.File)},
		AfterStep: o.AfterStep,
	}
}

// Earlier lists the networks of a data directory whose place the network d took. Their ids are what keys and journals
// were tagged with before. left says, in a line each, what of them did not end or could not be read.
func Earlier(dir string, d network.Descriptor) (all []network.Descriptor, left []string) {
	for _, k := range renew.List(dir, NetworkFile, d) {
		all, left = append(all, k.Network), append(left, k.Left...)
	}
	return all, left
}

// EarlierBalance is what an account had of an asset when an earlier network ended, in base units.
type EarlierBalance struct {
	Network network.Descriptor
	Account string // 0x and 40 hex digits, or base58
	Asset   caip.Asset
	Value   *big.Int
}

func (b EarlierBalance) equal(o EarlierBalance) bool {
	return b.Network.ID == o.Network.ID && b.Account == o.Account && b.Asset == o.Asset && b.Value.Cmp(o.Value) == 0
}

// EarlierBalances reads what accounts had on the networks whose place d took; what is zero is left out, and what is
// kept twice is told once. It only reads their databases, also while another process has the directory open.
func EarlierBalances(dir string, d network.Descriptor, accounts []string) (all []EarlierBalance, err error) {
	for _, k := range renew.List(dir, NetworkFile, d) {
		in, closer, err := k.Open(DatabaseFile)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", k.Dir, err)
		}
		for _, account := range accounts {
			found, e := earlierBalances(in, account)
			err = errors.Join(err, e)
			for _, b := range found {
				if !slices.ContainsFunc(all, b.equal) {
					all = append(all, b)
				}
			}
		}
		if err := errors.Join(err, closer.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", k.Dir, err)
		}
	}
	return all, nil
}

func earlierBalances(in *devnet.Installation, account string) (all []EarlierBalance, err error) {
	for e := range in.Catalog.Entities() {
		v, err := earlierBalance(in, account, e.Asset)
		if err != nil {
			return nil, err
		}
		if v.Sign() > 0 {
			all = append(all, EarlierBalance{in.Descriptor, account, e.Asset, v})
		}
	}
	return all, nil
}

// earlierBalance asks the asset itself: where an earlier token kept its balances, this program does not know.
func earlierBalance(in *devnet.Installation, account string, asset caip.Asset) (*big.Int, error) {
	none := new(big.Int)
	if key, err := solmsg.ParseKey(account); err == nil {
		if !asset.Chain.IsSolana() || in.Solana == nil {
			return none, nil
		}
		return in.SolanaBalance(context.Background(), key, asset)
	}
	c, err := in.ChainOf(asset.Chain)
	if err != nil || !common.IsHexAddress(account) {
		return none, nil
	}
	st, err := c.State(context.Background(), c.Head().Time)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	token, isToken := asset.Token()
	if !isToken {
		return st.Balance(common.HexToAddress(account)), st.Err()
	}
	r := st.Call(chain.Message{To: token, Data: erc20.BalanceOf(common.HexToAddress(account))})
	if v, ok := erc20.DecodeUint(r.Return); ok && r.Err == nil {
		return v, st.Err()
	}
	return none, st.Err() // there was no such token
}

// earlierNetworks are the networks whose place a service took, opened when they are first needed.
type earlierNetworks struct {
	mu     sync.Mutex
	opened bool
	all    []*deployment.Network
	files  []io.Closer
}

// earlierNetworks are those of the directory of the service, none without one. What cannot be opened is logged, once.
func (s *Service) earlierNetworks() []*deployment.Network {
	e := &s.earlier
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened || s.opts.Dir == "" {
		return e.all
	}
	e.opened = true
	for _, k := range renew.List(s.opts.Dir, NetworkFile, s.in.Descriptor) {
		in, closer, err := k.Open(DatabaseFile)
		if err != nil {
			s.opts.Log.Error("an earlier network cannot be read", "directory", k.Dir, "error", err)
			continue
		}
		e.all, e.files = append(e.all, in.Network), append(e.files, closer)
	}
	return e.all
}

func (e *earlierNetworks) close() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.files {
		err = errors.Join(err, c.Close())
	}
	e.all, e.files, e.opened = nil, nil, true
	return err
}
