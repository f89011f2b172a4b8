package operator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/amount"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
)

// What an owner orders. Each is a state that the chains should have, so that carrying it out twice does nothing.
const (
	OrderAllow    = "allow"    // the filler knows a key
	OrderRemove   = "remove"   // it does not
	OrderCap      = "cap"      // so much of an asset may leave at once, and so much more each second
	OrderPause    = "pause"    // nothing is paid
	OrderGo       = "unpause"  // it is again
	OrderFund     = "fund"     // the filler has at least so much of an asset
	OrderGas      = "gas"      // a key has at least so much of the coin
	OrderWithdraw = "withdraw" // the filler has at most so much of an asset; the rest goes to an address
)

// Order is one. Key is that of allow, remove and gas; Asset a symbol of the file; Amount and Refill are in whole units.
type Order struct {
	Kind           string
	Key, To        common.Address
	Asset          string
	Amount, Refill string
}

// OwnerOptions are those of Own. Chains are names or numbers, none for all. Print and Safe send nothing: Safe writes
// the calls of a chain to a file, and returns its name. Signer and Confirm are those of DeployOptions.
type OwnerOptions struct {
	Options
	Order  Order
	Chains []string
	DryRun bool
	Print  bool
	Safe   func(several bool, chain uint64, calls []OwnerCall) (string, error)
	Signer func(ctx context.Context) (signers.EVM, error)
	// Confirm returns an error to send nothing.
	Confirm func(ctx context.Context, payer string) error
}

// OwnerCall is a call to send from the owner's account. Value is in wei.
type OwnerCall struct {
	To       string `json:"to"`
	Value    string `json:"value"`
	Data     string `json:"data"`
	Function string `json:"function,omitzero"`
}

// OwnedChain is what an order does on a chain: what is there now, what should be, and the call between them. Skipped
// says why there is nothing to do.
type OwnedChain struct {
	ID          uint64      `json:"id"`
	Name        string      `json:"name"`
	Now         string      `json:"now"`
	Wanted      string      `json:"wanted"`
	Skipped     string      `json:"skipped,omitzero"`
	Calls       []OwnerCall `json:"calls"`
	MaxCost     string      `json:"maxCost,omitzero"` // of gas, in wei
	Transaction string      `json:"transaction,omitzero"`
	File        string      `json:"file,omitzero"`
}

// Owned is what Own did, or would do.
type Owned struct {
	Filler string       `json:"filler"`
	Owner  string       `json:"owner"`
	DryRun bool         `json:"dryRun"`
	Chains []OwnedChain `json:"chains"`
}

// owned is an order on one chain.
type owned struct {
	*node
	out      *OwnedChain
	filler   common.Address
	owner    common.Address // as the filler says
	call     *outgoing      // nil where nothing is to do
	function string
	byOwner  bool // the filler takes it from its owner alone
	fee, tip *big.Int
}

// Own carries out an order of the owner of an operator's filler: it looks what every chain has, prints it, and sends
// what differs, or writes that for a cold wallet.
func Own(ctx context.Context, o OwnerOptions) error {
	file, all, done, err := o.nodes(ctx)
	defer done()
	if err != nil {
		return err
	}
	filler, err := fillerOf(file)
	if err != nil {
		return err
	}
	if all, err = chosen(file, all, o.Chains); err != nil {
		return err
	}
	r := Owned{Filler: filler.At.Hex(), Owner: file.Operator.Owner.Hex(), DryRun: o.DryRun || o.Print || o.Safe != nil,
		Chains: make([]OwnedChain, len(all))}
	works := make([]*owned, len(all))
	for i, n := range all {
		r.Chains[i] = OwnedChain{ID: n.ID, Name: n.Name, Calls: []OwnerCall{}}
		works[i] = &owned{node: n, out: &r.Chains[i], filler: filler.At}
	}
	if err := each(ctx, all, func(ctx context.Context, n *node) error {
		return works[slices.Index(all, n)].plan(ctx, filler, o.Order)
	}); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Chains, func(c OwnedChain) bool { return c.Wanted != "" }) {
		return &InputError{fmt.Sprintf("no chain has %q", o.Order.Asset),
			"name the coin or a token of the file by its symbol"}
	}
	err = o.carryOut(ctx, works)
	if o.JSON {
		return errors.Join(printJSON(o.Out, r), err)
	}
	return err
}

// carryOut prints what is to do, and does it.
func (o OwnerOptions) carryOut(ctx context.Context, works []*owned) error {
	if !o.JSON {
		if err := o.printOrder(works); err != nil {
			return err
		}
	}
	todo := slices.DeleteFunc(slices.Clone(works), func(w *owned) bool { return w.call == nil })
	if len(todo) == 0 || o.DryRun || o.Print {
		return nil
	}
	if o.Safe != nil {
		for _, w := range todo {
			name, err := o.Safe(len(works) > 1, w.ID, w.out.Calls)
			if err != nil {
				return err
			}
			w.out.File = name
			o.say("%s: written to %s", w.Name, name)
		}
		return nil
	}
	return o.send(ctx, todo)
}

func (o OwnerOptions) say(format string, args ...any) {
	if !o.JSON {
		fmt.Fprintf(o.Out, format+"\n", args...)
	}
}

// send sends what differs, after it was confirmed and the key was found to be the right one with enough for it.
func (o OwnerOptions) send(ctx context.Context, todo []*owned) error {
	key, err := o.Signer(ctx)
	if err != nil {
		return err
	}
	from := key.Address()
	for _, w := range todo {
		if w.byOwner && w.owner != from {
			return fmt.Errorf("%s: the key is that of %s, and the filler takes this from its owner %s alone; nothing "+
				"was sent", w.Name, from.Hex(), w.owner.Hex())
		}
		if err := w.price(ctx, from); err != nil {
			return fmt.Errorf("%s: %w; nothing was sent", w.Name, err)
		}
	}
	if err := o.Confirm(ctx, from.Hex()); err != nil {
		return err
	}
	for _, w := range todo {
		err := w.submit(ctx, key, w.fee, w.tip, []*outgoing{w.call})
		if w.call.tx != (common.Hash{}) {
			w.out.Transaction = w.call.tx.Hex()
		}
		if err != nil {
			return fmt.Errorf("%s: %w (run it again: what is so by then is left alone)", w.Name, err)
		}
		o.say("%s: %s (%s)", w.Name, w.out.Wanted, w.call.tx)
	}
	return nil
}

// price finds out what the call costs its sender, who needs that and the value.
func (w *owned) price(ctx context.Context, from common.Address) (err error) {
	if w.fee, w.tip, err = w.fees(ctx); err != nil {
		return err
	}
	var gas hexutil.Uint64
	var has hexutil.Big
	if err := w.pool.Call(ctx, &gas, "eth_estimateGas", map[string]any{"from": from, "to": w.call.to,
		"value": (*hexutil.Big)(w.call.value), "data": hexutil.Bytes(w.call.data)}); err != nil {
		return fmt.Errorf("gas: %w", err)
	}
	w.call.gas = uint64(gas) + uint64(gas)/5
	cost := new(big.Int).Mul(w.fee, new(big.Int).SetUint64(w.call.gas))
	w.out.MaxCost = cost.String()
	if err := w.pool.Agreed(ctx, &has, "eth_getBalance", from, "latest"); err != nil {
		return err
	}
	if needs := cost.Add(cost, w.call.value); has.ToInt().Cmp(needs) < 0 {
		return fmt.Errorf("%s has %s and may need %s", from.Hex(), w.coins(has.ToInt()), w.coins(needs))
	}
	return nil
}

// fillerOf is the filler of a file's operator, as the network's descriptor has it.
func fillerOf(file *networks.File) (filler pinned.Contract, err error) {
	if file.Operator == nil {
		return filler, &InputError{file.Path + " names no operator", "a table [operator] says who settles payments"}
	}
	path := filepath.Join(filepath.Dir(file.Path), networks.Descriptor)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return filler, &InputError{"there is no " + path, "coffer network deploy writes it"}
	}
	if err != nil {
		return filler, err
	}
	d, err := network.Decode(raw)
	if err != nil {
		return filler, fmt.Errorf("%s: %w", path, err)
	}
	op := file.Operator
	if filler, _, err = pinned.Operated(d, op.Owner, op.Attesters, op.Threshold); err != nil {
		return filler, err
	}
	if n := len(d.Deployments); n == 0 || d.Deployments[n-1].Filler != filler.At {
		return filler, &InputError{path + " has another filler than " + file.Path + " says",
			"coffer network deploy writes it anew"}
	}
	return filler, nil
}

// chosen are the chains with these names or numbers.
func chosen(file *networks.File, all []*node, names []string) (out []*node, err error) {
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(n *node) bool {
			return strings.EqualFold(name, n.Name) || strings.EqualFold(name, n.Short) ||
				name == strconv.FormatUint(n.ID, 10)
		})
		if i < 0 {
			return nil, &InputError{fmt.Sprintf("%s has no chain %q", file.Path, name),
				"--chain takes a name or a number"}
		}
		if !slices.Contains(out, all[i]) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// asset finds the coin or a token of a chain by its symbol; none is no error, as not every chain has each.
func (n *node) asset(symbol string) (networks.Token, bool) {
	for _, t := range append([]networks.Token{n.Coin}, n.Tokens...) {
		if strings.EqualFold(t.Symbol, symbol) {
			return t, true
		}
	}
	return networks.Token{}, false
}

// plan looks what a chain has, and makes the call that is missing. The filler's code is compared first.
func (w *owned) plan(ctx context.Context, filler pinned.Contract, o Order) error {
	code, err := w.code(ctx, filler.At)
	if err != nil {
		return err
	}
	if found, err := filler.Check(w.ID, code); err != nil || !found {
		return errors.Join(err, fmt.Errorf("no filler is at %s: coffer network deploy puts it there", filler.At.Hex()))
	}
	owner, err := w.read(ctx, filler.At, "owner()")
	if err != nil {
		return err
	}
	w.owner = common.BigToAddress(owner[0])
	switch o.Kind {
	case OrderAllow, OrderRemove:
		return w.hot(ctx, o.Key, o.Kind == OrderAllow)
	case OrderPause, OrderGo:
		return w.pause(ctx, o.Kind == OrderPause)
	case OrderGas:
		return w.fill(ctx, w.Coin, o.Key, o.Amount)
	}
	t, has := w.asset(o.Asset)
	if !has {
		w.out.Skipped = "it has no " + o.Asset
		return nil
	}
	switch o.Kind {
	case OrderCap:
		return w.limit(ctx, t, o)
	case OrderFund:
		return w.fill(ctx, t, w.filler, o.Amount)
	case OrderWithdraw:
		return w.take(ctx, t, o)
	}
	return fmt.Errorf("%q is no order", o.Kind)
}

// read calls a function that answers in words. What it says is what a quorum says.
func (n *node) read(ctx context.Context, to common.Address, signature string, args ...[]byte) ([]*big.Int, error) {
	var answer hexutil.Bytes
	err := n.pool.Agreed(ctx, &answer, "eth_call", map[string]any{"to": to,
		"data": hexutil.Bytes(callData(signature, args...))}, "latest")
	if err == nil && (len(answer) == 0 || len(answer)%32 != 0) {
		err = errors.New("its answer has no words")
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", signature, to.Hex(), err)
	}
	var out []*big.Int
	for word := range slices.Chunk(answer, 32) {
		out = append(out, new(big.Int).SetBytes(word))
	}
	return out, nil
}

// callData encodes a call whose arguments are one word each.
func callData(signature string, args ...[]byte) []byte {
	out := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		out = append(out, common.LeftPadBytes(a, 32)...)
	}
	return out
}

// order notes a call. function names its parameters, for people.
func (w *owned) order(byOwner bool, to common.Address, value *big.Int, data []byte, function string) {
	w.byOwner, w.function = byOwner, function
	w.call = &outgoing{name: w.out.Wanted, to: to, value: value, data: data}
	w.out.Calls = append(w.out.Calls, OwnerCall{To: to.Hex(), Value: value.String(), Data: hexutil.Encode(data),
		Function: function})
}

func (w *owned) hot(ctx context.Context, key common.Address, allow bool) error {
	now, err := w.read(ctx, w.filler, "hot(address)", key[:])
	if err != nil {
		return err
	}
	words := map[bool]string{true: "the filler knows " + key.Hex(), false: "the filler does not know " + key.Hex()}
	is := now[0].Sign() != 0
	if w.out.Now, w.out.Wanted = words[is], words[allow]; is != allow {
		w.order(true, w.filler, new(big.Int), callData("setHot(address,bool)", key[:], truth(allow)),
			"setHot(address key, bool hot)")
	}
	return nil
}

func truth(b bool) []byte {
	if b {
		return []byte{1}
	}
	return nil
}

func (w *owned) pause(ctx context.Context, pause bool) error {
	now, err := w.read(ctx, w.filler, "paused()")
	if err != nil {
		return err
	}
	words := map[bool]string{true: "paused: nothing is paid", false: "not paused"}
	is := now[0].Sign() != 0
	if w.out.Now, w.out.Wanted = words[is], words[pause]; is != pause {
		w.order(true, w.filler, new(big.Int), callData("setPaused(bool)", truth(pause)), "setPaused(bool paused)")
	}
	return nil
}

// maxCap is the bound of a cap's figures in the contract, in bits.
const maxCap = 128

func (w *owned) limit(ctx context.Context, t networks.Token, o Order) error {
	most, err := units("the capacity", o.Amount, t)
	if err != nil {
		return err
	}
	more, err := units("--refill", o.Refill, t)
	if err != nil {
		return err
	}
	if most.BitLen() > maxCap || more.BitLen() > maxCap {
		return &InputError{"a cap is below 2^128 base units", "take a smaller one: it is what a thief may take"}
	}
	now, err := w.read(ctx, w.filler, "caps(address)", t.Address[:])
	if err == nil && len(now) < 2 {
		err = errors.New("caps: its answer is too short")
	}
	if err != nil {
		return err
	}
	words := func(most, more *big.Int) string {
		if most.Sign() == 0 {
			return "no " + t.Symbol + " may leave"
		}
		return fmt.Sprintf("%s %s may leave at once, and %s more each second", amount.Human(most, t.Decimals), t.Symbol,
			amount.Human(more, t.Decimals))
	}
	w.out.Now, w.out.Wanted = words(now[0], now[1]), words(most, more)
	if now[0].Cmp(most) != 0 || now[1].Cmp(more) != 0 {
		w.order(true, w.filler, new(big.Int), callData("setCap(address,uint256,uint256)", t.Address[:], most.Bytes(),
			more.Bytes()), "setCap(address token, uint256 capacity, uint256 refillPerSecond)")
	}
	return nil
}

// units reads an amount of whole units.
func units(what, text string, t networks.Token) (*big.Int, error) {
	v, err := amount.Parse(text, t.Decimals)
	if err != nil {
		return nil, &InputError{fmt.Sprintf("%s: %q is no amount of %s: %v", what, text, t.Symbol, err),
			"such as 10000 or 0.5"}
	}
	return v, nil
}

// balance is what an address has of an asset.
func (n *node) balance(ctx context.Context, t networks.Token, at common.Address) (*big.Int, error) {
	if t.Address == (common.Address{}) {
		var has hexutil.Big
		err := n.pool.Agreed(ctx, &has, "eth_getBalance", at, "latest")
		return has.ToInt(), err
	}
	now, err := n.read(ctx, t.Address, "balanceOf(address)", at[:])
	if err != nil {
		return nil, err
	}
	return now[0], nil
}

func has(at common.Address, v *big.Int, t networks.Token) string {
	return fmt.Sprintf("%s has %s %s", at.Hex(), amount.Human(v, t.Decimals), t.Symbol)
}

// fill sends what an address lacks of an asset, from the key's own.
func (w *owned) fill(ctx context.Context, t networks.Token, to common.Address, text string) error {
	least, err := units("the amount", text, t)
	if err != nil {
		return err
	}
	now, err := w.balance(ctx, t, to)
	if err != nil {
		return err
	}
	w.out.Now, w.out.Wanted = has(to, now, t), has(to, least, t)
	lacks := new(big.Int).Sub(least, now)
	switch {
	case lacks.Sign() <= 0:
		w.out.Wanted = w.out.Now
	case t.Address == common.Address{}:
		w.order(false, to, lacks, nil, "")
	default:
		w.order(false, t.Address, new(big.Int), callData("transfer(address,uint256)", to[:], lacks.Bytes()),
			"transfer(address to, uint256 amount)")
	}
	return nil
}

// take withdraws what the filler has above an amount.
func (w *owned) take(ctx context.Context, t networks.Token, o Order) error {
	leaves, err := units("--leave", o.Amount, t)
	if err != nil {
		return err
	}
	now, err := w.balance(ctx, t, w.filler)
	if err != nil {
		return err
	}
	w.out.Now, w.out.Wanted = has(w.filler, now, t), has(w.filler, leaves, t)
	over := new(big.Int).Sub(now, leaves)
	if over.Sign() <= 0 {
		w.out.Wanted = w.out.Now
		return nil
	}
	w.out.Wanted += fmt.Sprintf(", and %s %s go to %s", amount.Human(over, t.Decimals), t.Symbol, o.To.Hex())
	w.order(true, w.filler, new(big.Int), callData("withdraw(address,address,uint256)", t.Address[:], o.To[:],
		over.Bytes()), withdrawFunction)
	return nil
}

const withdrawFunction = "withdraw(address token, address to, uint256 amount)"

// WithdrawCall is the owner's call that takes an amount of a token, the zero address for the coin, out of a filler.
func WithdrawCall(filler, token, to common.Address, v *big.Int) OwnerCall {
	return OwnerCall{To: filler.Hex(), Value: "0", Function: withdrawFunction,
		Data: hexutil.Encode(callData("withdraw(address,address,uint256)", token[:], to[:], v.Bytes()))}
}

// printOrder says for each chain what is so already and what is not.
func (o OwnerOptions) printOrder(works []*owned) error {
	todo := 0
	for _, w := range works {
		switch {
		case w.out.Skipped != "":
			o.say("%s: %s", w.Name, w.out.Skipped)
			continue
		case w.call == nil:
			o.say("%s: already so: %s", w.Name, w.out.Now)
			continue
		}
		todo++
		o.say("%s: now   %s", w.Name, w.out.Now)
		o.say("%*s  then  %s", len(w.Name), "", w.out.Wanted)
		if o.Print {
			c := w.out.Calls[0]
			o.say("  chain  %d\n  to     %s\n  value  %s\n  data   %s", w.ID, c.To, c.Value, c.Data)
		}
	}
	switch {
	case todo == 0:
		o.say("nothing is to do")
	case o.DryRun:
		o.say("this was a dry run: nothing was sent")
	}
	return nil
}
