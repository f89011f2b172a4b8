package ethrpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/tracers/logger"

	"coffer/api/service/jsonrpc"
)

// accessList is the answer of eth_createAccessList. A call that fails has a list, too; Error says how it failed.
type accessList struct {
	List    types.AccessList `json:"accessList"`
	Error   string           `json:"error,omitempty"`
	GasUsed hexutil.Uint64   `json:"gasUsed"`
}

func (a *api) accessListMethods() jsonrpc.Methods {
	return jsonrpc.Methods{"eth_createAccessList": three(a.createAccessList)}
}

// createAccessList runs the call with the list that its last run asked for, until a run asks for no more: a list makes
// the gas cheaper, and a contract may do something else with the gas that it saves.
func (a *api) createAccessList(ctx context.Context, args CallArgs, at *BlockRef, overrides *StateOverride) (*accessList,
	error) {
	if at == nil {
		at = &BlockRef{Pending: true}
	}
	s, err := Open(a.Node, at, deref(overrides), nil)
	if err != nil {
		return nil, err
	}
	defer s.View.Close()
	begin := s.View.State
	free := a.alwaysWarm(s, &args)
	list := types.AccessList{}
	if args.AccessList != nil {
		list = *args.AccessList
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	for last := logger.NewAccessListTracer(list, free); ; {
		list = last.AccessList()
		args.AccessList = &list
		msg, err := args.Message(a.Config().ChainID, s.Block.BaseFee, CallGas)
		if err != nil {
			return nil, err
		}
		s.View.State = begin.Copy()
		next := logger.NewAccessListTracer(list, free)
		res, err := s.Run(ctx, msg, vm.Config{Tracer: next.Hooks()})
		if err != nil {
			return nil, err
		}
		if next.Equal(last) {
			out := &accessList{List: next.AccessList(), GasUsed: hexutil.Uint64(res.UsedGas)}
			if out.List == nil {
				out.List = types.AccessList{}
			}
			if res.Err != nil {
				out.Error = res.Err.Error()
			}
			return out, nil
		}
		last = next
	}
}

// alwaysWarm are the addresses that a list needs not name: sender, recipient, precompiles, and who signed an
// authorization that is in force.
func (a *api) alwaysWarm(s *Scene, args *CallArgs) map[common.Address]struct{} {
	rules := a.Config().Rules(s.Block.BlockNumber, true, s.Block.Time)
	warm := map[common.Address]struct{}{args.Sender(): {}}
	for _, p := range vm.ActivePrecompiles(rules) {
		warm[p] = struct{}{}
	}
	if args.To != nil {
		warm[*args.To] = struct{}{}
	} else {
		nonce := s.View.State.GetNonce(args.Sender())
		if args.Nonce != nil {
			nonce = uint64(*args.Nonce)
		}
		warm[crypto.CreateAddress(args.Sender(), nonce)] = struct{}{}
	}
	for _, auth := range args.AuthorizationList {
		if !auth.ChainID.IsZero() && auth.ChainID.CmpBig(a.Config().ChainID) != 0 {
			continue
		}
		if who, err := auth.Authority(); err == nil && s.View.State.GetNonce(who) == auth.Nonce {
			warm[who] = struct{}{}
		}
	}
	return warm
}
