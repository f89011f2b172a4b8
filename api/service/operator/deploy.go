package operator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
)

// DeployOptions are those of Deploy. Signer gives the key that pays; it is asked for when something has to be sent.
// Confirm returns an error to stop before anything is.
type DeployOptions struct {
	Options
	DryRun  bool
	Signer  func(ctx context.Context) (signers.EVM, error)
	Confirm func(ctx context.Context, payer string) error
}

// placed is a contract that is missing on a chain, what its creation takes, and the transaction that does it.
type placed struct {
	pinned.Contract
	gas uint64
	tx  common.Hash
}

// work is what Deploy does on one chain. cost is the most that it takes, in wei.
type work struct {
	*node
	there    int // contracts that were there before
	missing  []*placed
	approved bool // by the meta factory's owner
	cost     *big.Int
	fee, tip *big.Int
}

// Deploy puts the contracts that are missing on the chains of a file, through the deterministic deployer, and writes
// the descriptor of the network beside the file. What is there already is left alone.
func Deploy(ctx context.Context, o DeployOptions) error {
	file, all, done, err := o.nodes(ctx)
	defer done()
	if err != nil {
		return err
	}
	path, d, err := o.plan(ctx, file, all)
	if err != nil {
		return err
	}
	works, err := plans(ctx, all)
	if err != nil {
		return err
	}
	missing := 0
	for _, w := range works {
		missing += len(w.missing)
	}
	if o.JSON {
		result, err := o.deploy(ctx, path, d, works, missing)
		if err != nil && !result.sent() {
			return err
		}
		return errors.Join(printJSON(o.Out, result), err)
	}
	if err := o.printPlan(works, missing); err != nil {
		return err
	}
	result, err := o.deploy(ctx, path, d, works, missing)
	if err != nil {
		return err
	}
	return o.end(works, result)
}

// Deployed is what Deploy did, or would do.
type Deployed struct {
	DryRun      bool            `json:"dryRun"`
	Chains      []DeployedChain `json:"chains"`
	NetworkFile string          `json:"networkFile,omitzero"` // "" before it was written
	NetworkID   string          `json:"networkId,omitzero"`
	Fingerprint string          `json:"fingerprint,omitzero"`
}

// DeployedChain is what Deploy did on a chain: how many contracts were there before, what was missing, and what that
// costs at most.
type DeployedChain struct {
	ID              uint64             `json:"id"`
	Name            string             `json:"name"`
	There           int                `json:"there"`
	FactoryApproved bool               `json:"factoryApproved"`
	Missing         []DeployedContract `json:"missing"`
	MaxCost         string             `json:"maxCost"` // in wei
	GasPrice        string             `json:"gasPrice,omitzero"`
}

// DeployedContract is a contract that was missing. Transaction is the one that made it; empty: none was sent.
type DeployedContract struct {
	Name        string `json:"name"`
	Address     string `json:"address"`
	Gas         uint64 `json:"gas"`
	Transaction string `json:"transaction,omitzero"`
}

// sent reports that a transaction was.
func (r Deployed) sent() bool {
	return slices.ContainsFunc(r.Chains, func(c DeployedChain) bool {
		return slices.ContainsFunc(c.Missing, func(m DeployedContract) bool { return m.Transaction != "" })
	})
}

// deploy sends what is missing and writes the descriptor. Its result says how far it came.
func (o DeployOptions) deploy(ctx context.Context, path string, d network.Descriptor, works []*work, missing int) (
	r Deployed, err error) {
	defer func() { r.DryRun, r.Chains = o.DryRun, deployedChains(works) }()
	if o.DryRun {
		return r, nil
	}
	if missing > 0 {
		if err := o.send(ctx, works); err != nil {
			return r, err
		}
	}
	if err := write(path, d); err != nil {
		return r, err
	}
	r.NetworkFile, r.NetworkID, r.Fingerprint = path, d.ID, d.Fingerprint()
	return r, nil
}

func deployedChains(works []*work) []DeployedChain {
	out := make([]DeployedChain, 0, len(works))
	for _, w := range works {
		c := DeployedChain{ID: w.ID, Name: w.Name, There: w.there, FactoryApproved: w.approved,
			Missing: []DeployedContract{}, MaxCost: w.cost.String()}
		if w.fee != nil {
			c.GasPrice = w.fee.String()
		}
		for _, p := range w.missing {
			m := DeployedContract{Name: p.Name, Address: p.At.Hex(), Gas: p.gas}
			if p.tx != (common.Hash{}) {
				m.Transaction = p.tx.Hex()
			}
			c.Missing = append(c.Missing, m)
		}
		out = append(out, c)
	}
	return out
}

// plans looks at all chains before anything is sent on one.
func plans(ctx context.Context, all []*node) ([]*work, error) {
	works := make([]*work, len(all))
	for i, n := range all {
		works[i] = &work{node: n, cost: new(big.Int)}
	}
	return works, each(ctx, all, func(ctx context.Context, n *node) error {
		return works[slices.Index(all, n)].plan(ctx)
	})
}

func (w *work) plan(ctx context.Context) error {
	t, err := w.look(ctx)
	if err != nil {
		return err
	}
	w.there, w.approved = len(t.has), t.approved
	if len(t.missing) == 0 {
		return nil
	}
	if !t.deployer {
		return errors.New(keyless)
	}
	if w.fee, w.tip, err = w.fees(ctx); err != nil {
		return err
	}
	for _, c := range t.missing {
		to := deployer()
		var gas hexutil.Uint64
		if err := w.pool.Call(ctx, &gas, "eth_estimateGas", message{&to, c.CallData()}); err != nil {
			return fmt.Errorf("gas of %s: %w", c.Name, err)
		}
		p := &placed{Contract: c, gas: uint64(gas) + uint64(gas)/5}
		w.missing = append(w.missing, p)
		w.cost.Add(w.cost, new(big.Int).Mul(w.fee, new(big.Int).SetUint64(p.gas)))
	}
	return nil
}

// fees are what a unit of gas may cost, and what of it goes to the block's proposer.
func (n *node) fees(ctx context.Context) (fee, tip *big.Int, err error) {
	head, err := n.block(ctx, "latest")
	if err != nil {
		return nil, nil, err
	}
	if head.BaseFee == nil {
		return nil, nil, errors.New("its blocks have no base fee (EIP-1559)")
	}
	var suggested hexutil.Big
	if err := n.pool.Call(ctx, &suggested, "eth_maxPriorityFeePerGas"); err != nil {
		return nil, nil, err
	}
	base, tip := head.BaseFee.ToInt(), suggested.ToInt()
	now := new(big.Int).Add(base, tip)
	if now.Cmp(n.FeeCap) > 0 {
		return nil, nil, fmt.Errorf("%s: gas costs %s gwei now, fee_cap_gwei is %s: wait, or allow more",
			n.file.Where(n.Line), networks.Gwei(now), networks.Gwei(n.FeeCap))
	}
	fee = now.Add(now, base) // twice the base fee
	if fee.Cmp(n.FeeCap) > 0 {
		fee = n.FeeCap
	}
	return fee, tip, nil
}

// keyless says how anybody can make the deterministic deployer. The transaction was signed with no key: its signature
// was chosen, and the sender follows from it.
const keyless = `the deterministic deployer 0x4e59b44847b379578588920cA78FbF26c0B4956C is not on this chain. Anyone can
put it there: send 0.01 of the native coin to 0x3fAB184622Dc19b6109349B94811493BF2a45362, then send this transaction,
which has no chain id, with eth_sendRawTransaction (geth takes none of that kind without --rpc.allow-unprotected-txs):
` + keylessTx

const keylessTx = "0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffff" +
	"ffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b808252505050" +
	"6014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222" +
	"222222222222222222222222222222222222222222222222"

func (o DeployOptions) printPlan(works []*work, missing int) error {
	if missing == 0 {
		_, err := fmt.Fprintf(o.Out, "nothing is missing on %s\n", plural(len(works), "chain", "chains"))
		return err
	}
	out := tabwriter.NewWriter(o.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "chain\tmissing\taddress\tgas")
	for _, w := range works {
		for _, p := range w.missing {
			fmt.Fprintf(out, "%s\t%s\t%s\t%d\n", w.Name, p.Name, p.At.Hex(), p.gas)
		}
	}
	fmt.Fprintln(out, "\nchain\tthere already\tcosts at most\tat gwei")
	for _, w := range works {
		if len(w.missing) == 0 {
			fmt.Fprintf(out, "%s\t%d\tnothing\t-\n", w.Name, w.there)
			continue
		}
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\n", w.Name, w.there, w.coins(w.cost), networks.Gwei(w.fee))
	}
	return out.Flush()
}

// send sends what is missing. Before the first transaction, the payer has enough on every chain.
func (o DeployOptions) send(ctx context.Context, works []*work) error {
	key, err := o.Signer(ctx)
	if err != nil {
		return err
	}
	payer := key.Address()
	for _, w := range works {
		var has hexutil.Big
		if err := w.pool.Agreed(ctx, &has, "eth_getBalance", payer, "latest"); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		if has.ToInt().Cmp(w.cost) < 0 {
			return fmt.Errorf("%s: %s has %s and may need %s; nothing was sent", w.Name, payer.Hex(),
				w.coins(has.ToInt()), w.coins(w.cost))
		}
	}
	if o.Confirm != nil {
		if err := o.Confirm(ctx, payer.Hex()); err != nil {
			return err
		}
	}
	for _, w := range works {
		if len(w.missing) == 0 {
			continue
		}
		if err := w.send(ctx, key); err != nil {
			return fmt.Errorf("%s: %w (run it again: what is there by then is left alone)", w.Name, err)
		}
		for _, p := range w.missing {
			if o.JSON {
				break
			}
			fmt.Fprintf(o.Out, "%s: %s is at %s (%s)\n", w.Name, p.Name, p.At.Hex(), p.tx)
		}
	}
	return nil
}

// outgoing is a transaction to send.
type outgoing struct {
	name  string
	to    common.Address
	value *big.Int
	data  []byte
	gas   uint64
	tx    common.Hash // once it was sent
}

// submit sends transactions of a key that has nothing else under way, and waits until each is in a block.
func (n *node) submit(ctx context.Context, key signers.EVM, fee, tip *big.Int, all []*outgoing) error {
	var latest, pending hexutil.Uint64
	if err := n.pool.Agreed(ctx, &latest, "eth_getTransactionCount", key.Address(), "latest"); err != nil {
		return err
	}
	if err := n.pool.Call(ctx, &pending, "eth_getTransactionCount", key.Address(), "pending"); err != nil {
		return err
	}
	if pending != latest {
		return fmt.Errorf("%s has transactions under way: wait until they are in a block", key.Address().Hex())
	}
	id := new(big.Int).SetUint64(n.ID)
	for i, o := range all {
		tx, err := key.SignTx(ctx, types.NewTx(&types.DynamicFeeTx{
			ChainID: id, Nonce: uint64(latest) + uint64(i), GasTipCap: tip, GasFeeCap: fee, Gas: o.gas, To: &o.to,
			Value: o.value, Data: o.data,
		}), id)
		if err != nil {
			return err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return err
		}
		if o.tx, err = n.pool.Broadcast(ctx, raw); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for _, o := range all {
		if err := n.mined(ctx, o.tx); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// send makes the contracts of a chain and waits until each is there.
func (w *work) send(ctx context.Context, key signers.EVM) error {
	all := make([]*outgoing, len(w.missing))
	for i, p := range w.missing {
		all[i] = &outgoing{name: p.Name, to: deployer(), data: p.CallData(), gas: p.gas}
	}
	err := w.submit(ctx, key, w.fee, w.tip, all)
	for i, p := range w.missing {
		p.tx = all[i].tx
	}
	if err != nil {
		return err
	}
	t, err := w.look(ctx)
	if err != nil {
		return err
	}
	for _, c := range t.missing {
		return fmt.Errorf("%s: its transaction is in a block, and there is no code at %s", c.Name, c.At.Hex())
	}
	w.approved = t.approved
	return nil
}

// Pauses between two questions for a receipt.
const (
	shortPause = 50 * time.Millisecond
	longPause  = 4 * time.Second
)

// mined waits for a transaction to be in a block.
func (n *node) mined(ctx context.Context, hash common.Hash) error {
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		var receipt struct {
			Status hexutil.Uint64 `json:"status"`
		}
		err := n.pool.Call(ctx, &receipt, "eth_getTransactionReceipt", hash)
		switch {
		case err == nil && receipt.Status != 1:
			return fmt.Errorf("transaction %s failed", hash)
		case err == nil:
			return nil
		case !errors.Is(err, rpcpool.ErrNotFound):
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("transaction %s is in no block yet: %w", hash, ctx.Err())
		}
	}
}

// end says what there is now.
func (o DeployOptions) end(works []*work, r Deployed) error {
	var closed []string
	for _, w := range works {
		if !w.approved && (!r.DryRun || w.there > 0) {
			closed = append(closed, w.Name)
		}
	}
	var lines []string
	if len(closed) > 0 {
		lines = append(lines, "note     "+strings.Join(closed, ", ")+": the meta factory's owner has not approved the "+
			"factory, so "+off[pinned.Factory])
	}
	if !r.DryRun {
		lines = append(lines, "network  "+r.NetworkFile, "         "+r.Fingerprint)
	} else {
		lines = append(lines, "this was a dry run: nothing was sent, nothing was written")
	}
	_, err := fmt.Fprintln(o.Out, strings.Join(lines, "\n"))
	return err
}
