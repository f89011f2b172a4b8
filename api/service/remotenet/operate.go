package remotenet

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/api/service/attest"
	"coffer/api/service/attest/attesthttp"
	"coffer/api/service/chain"
	"coffer/api/service/outsign"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

var (
	// ErrOperator says that a file names an operator, whose service is not one inside a wallet.
	ErrOperator = errors.New("the file names an operator: coffer serve --networks runs its service, and wallets open " +
		"that one")
	// ErrRealOperator says that real money is at stake, and that the operator's keys would be in the store in the
	// clear.
	ErrRealOperator = errors.New("real money is at stake, and the service's keys would be beside its data in the " +
		"clear: --keys names a file for them, which a passphrase guards")
	// ErrAnyone says that real money is at stake for every account.
	ErrAnyone = errors.New(`real money is at stake, and accounts = "any" serves every account: list them, or ` +
		"start with --serve-anyone-with-real-money")
	// ErrTwoKeys says that data has keys of its own beside those of a file.
	ErrTwoKeys = errors.New("these data have keys of their own, in the clear: leave out --keys, or begin with " +
		"another data directory")
	// ErrNoOperator says that a file names none.
	ErrNoOperator = errors.New("the file names no operator: a table [operator] says who settles payments")
	// ErrOpen says that deposits of quotes lie in another escrow than that of the latest deployment.
	ErrOpen = errors.New("quotes are open whose payments go through contracts of an earlier deployment: serve those " +
		"until they have ended")
	// ErrBeside says that processes of one database would not serve the same.
	ErrBeside = errors.New("another process serves from this database with other contracts, chains or keys: give all " +
		"of them the same networks.toml, " + networks.Descriptor + " and keys, or end the others first")
	// ErrAttesters says that a release takes more attesters than can be asked.
	ErrAttesters = errors.New("fewer attesters can be asked than must sign: [[operator.elsewhere]] says where one is " +
		"reached that is not this service's own")
)

// A KeysError says that the service of an operator is not the one that the file, or the filler on a chain, knows. Its
// keys exist by then.
type KeysError struct {
	Problem            string
	Operator, Attester common.Address
}

func (e *KeysError) Error() string {
	return fmt.Sprintf("%s (this service sends as %s and attests as %s)", e.Problem, e.Operator.Hex(), e.Attester.Hex())
}

// introduce makes the keys of an operator's service before there is a network: the contracts are made for them.
func introduce(file *networks.File, o Options) error {
	switch {
	case o.Operator && file.Operator == nil:
		return ErrNoOperator
	case !o.Operator && file.Operator != nil:
		return ErrOperator
	case file.Operator == nil:
		return nil
	case file.Kind == network.Real && !o.Kept:
		return ErrRealOperator
	case file.Kind == network.Real && file.Operator.Anyone && !o.Anyone:
		return fmt.Errorf("%s: %w", file.Where(file.Operator.Line), ErrAnyone)
	}
	raw, err := seed(o)
	if err == nil && !o.Kept {
		err = o.Store.Update(func(tx store.Tx) error {
			there := tx.Bucket(bucket).Get([]byte(keySeed))
			if there != nil && !bytes.Equal(there, raw) {
				return errors.New("another process has made the keys of this service just now: start this one again")
			}
			return tx.Bucket(bucket).Put([]byte(keySeed), raw)
		})
	}
	if err != nil {
		return err
	}
	keys, err := signers.Derive(raw)
	if err != nil {
		return err
	}
	sends, attests := addresses(file.Operator, keys.Set)
	op := file.Operator
	asked, own := len(op.Elsewhere), slices.Contains(op.Attesters, attests)
	if own && !slices.ContainsFunc(op.Elsewhere, func(e networks.Elsewhere) bool { return e.Attester == attests }) {
		asked++
	}
	switch {
	case asked >= op.Threshold && len(op.Attesters) > 0:
		return nil
	case own:
		return fmt.Errorf("%s: %w", file.Where(op.Line), ErrAttesters)
	}
	return &KeysError{Problem: file.Where(op.Line) + ": the attesters are others: write " + attests.Hex() +
		" into the list, then coffer network deploy", Operator: sends, Attester: attests}
}

// addresses are what the service of an operator sends as and attests as.
func addresses(op *networks.Operator, derived signers.Set) (sends, attests common.Address) {
	sends, attests = derived.Operator.Address(), derived.Attester.Address()
	if op.HotKey != nil {
		sends = op.HotKey.Address
	}
	if op.AttesterKey != nil {
		attests = op.AttesterKey.Address
	}
	return sends, attests
}

// outside puts the signers outside this program, whom the file of an operator names, in the place of derived ones.
func (n *Network) outside(file *networks.File) error {
	op := file.Operator
	if op == nil {
		return nil
	}
	if op.HotKey != nil {
		k, err := signerOf(file, op.HotKey, n.ID)
		if err != nil {
			return err
		}
		n.Operator = k
	}
	if op.AttesterKey != nil {
		k, err := signerOf(file, op.AttesterKey, n.ID)
		if err != nil {
			return err
		}
		n.Attester = k
	}
	return nil
}

// signerOf makes the client of a signer.
func signerOf(file *networks.File, s *networks.Signer, id string) (*outsign.Key, error) {
	roots, err := certificates(file, s.CA, s.Line)
	if err != nil {
		return nil, err
	}
	return outsign.New(outsign.Options{Signer: *s, Network: id, RootCAs: roots}), nil
}

// certificates are those of a file that is named beside another; nil where none is.
func certificates(file *networks.File, name string, line int) (*x509.CertPool, error) {
	if name == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file.Beside(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Where(line), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s: %s has no certificate", file.Where(line), file.Beside(name))
	}
	return pool, nil
}

// openPanel begins to ask the attesters of an operator.
func (n *Network) openPanel(ctx context.Context, file *networks.File, o Options) error {
	op := file.Operator
	var ports []attest.Port
	for _, e := range op.Elsewhere {
		roots, err := certificates(file, e.CA, e.Line)
		if err != nil {
			return err
		}
		key, err := file.Secret(ctx, e, o.Credential)
		if err != nil {
			return err
		}
		ports = append(ports, attesthttp.NewRemote(attesthttp.Options{Attester: e.Attester, URL: e.URL, RootCAs: roots,
			Key: secret.New([]byte(key)), Network: n.ID, Filler: n.Pins.Solver, Escrow: n.Pins.Escrow}))
	}
	own := n.Attester.Address()
	if slices.Contains(op.Attesters, own) &&
		!slices.ContainsFunc(op.Elsewhere, func(e networks.Elsewhere) bool { return e.Attester == own }) {
		ports = append(ports, attest.New(n.Attester, n.Network))
	}
	n.Panel = attest.NewPanel(attest.PanelOptions{Ports: ports, Threshold: op.Threshold, Filler: n.Pins.Solver,
		Clock: o.Clock, Log: n.log, Every: o.PingEvery, Gone: o.Gone})
	n.Limits.Attested = n.Panel.Few
	return nil
}

// operate makes the network that of its operator, if the filler of every chain knows the service's key.
func (n *Network) operate(ctx context.Context, file *networks.File, o Options) error {
	if file.Operator == nil {
		return nil
	}
	n.Threshold, n.EscrowSalt = file.Operator.Threshold, n.Salt()
	n.limit(file)
	key := n.Operator.Address()
	data := append(crypto.Keccak256([]byte("hot(address)"))[:4], common.LeftPadBytes(key[:], 32)...)
	var group errgroup.Group // all are asked: the owner wants to know of each chain
	cold := make([]string, len(n.nodes))
	for i, node := range n.nodes {
		group.Go(func() error {
			var hot hexutil.Bytes
			err := node.pool.Agreed(ctx, &hot, "eth_call", map[string]any{"to": n.Pins.Solver,
				"data": hexutil.Bytes(data)}, "latest")
			if err != nil && silent(err) {
				n.log.Warn("a chain cannot be asked whether its filler knows the service's key", "chain", node.ID(),
					"error", err)
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", node.name, err)
			}
			if len(hot) != 32 || hot[31] != 1 {
				cold[i] = node.name
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if cold = slices.DeleteFunc(cold, func(name string) bool { return name == "" }); len(cold) == 0 {
		return n.openPanel(ctx, file, o)
	}
	return &KeysError{Problem: fmt.Sprintf("%s: the service's key is no hot key of the filler %s: its owner %s has to "+
		"call setHot(%s, true) there", strings.Join(cold, ", "), n.Pins.Solver.Hex(), file.Operator.Owner.Hex(),
		key.Hex()), Operator: key, Attester: n.Attester.Address()}
}

// Where the data keeps which escrow its quotes pay into, and what each process serves from it, by its number.
const (
	keyEscrow = "escrow"
	keyServed = "served/"
)

// goneWithin is how long a process that was killed may still be on the list of those that are there.
const goneWithin = 5 * time.Second

// Settle notes that quotes pay into the network's escrow from now on. While some of another one are open it is ErrOpen;
// while another process serves another deployment, or with other keys, it is ErrBeside.
func (n *Network) Settle(s store.Store, open int) error {
	if n.Limits == nil {
		return nil
	}
	for end := time.Now().Add(goneWithin); ; time.Sleep(goneWithin / 20) {
		err := s.Update(func(tx store.Tx) error {
			b := tx.Bucket(bucket)
			was := b.Get([]byte(keyEscrow))
			if was != nil && string(was) != n.Pins.Escrow.Hex() && open > 0 {
				return fmt.Errorf("%w: %d, in the escrow %s", ErrOpen, open, was)
			}
			if err := n.serve(tx, s); err != nil || string(was) == n.Pins.Escrow.Hex() {
				return err
			}
			return b.Put([]byte(keyEscrow), []byte(n.Pins.Escrow.Hex()))
		})
		if !errors.Is(err, ErrBeside) || time.Now().After(end) {
			return err
		}
	}
}

// serve notes what this process of several serves, and compares it with what the others do. One that has not come as
// far waits for this one.
func (n *Network) serve(tx store.Tx, s store.Store) error {
	if store.Process(s) == 0 {
		return nil
	}
	others, err := store.Others(tx, s)
	if err != nil {
		return err
	}
	b := tx.Bucket(bucket)
	var gone [][]byte
	beside := false
	b.Ascend([]byte(keyServed), func(k, v []byte) bool {
		number, is := strings.CutPrefix(string(k), keyServed)
		if !is {
			return false
		}
		if of, err := strconv.ParseUint(number, 10, 64); err != nil || !others[of] {
			gone = append(gone, bytes.Clone(k))
		} else if string(v) != n.Fingerprint() {
			beside = true
		}
		return true
	})
	if beside {
		return ErrBeside
	}
	for _, k := range gone {
		err = errors.Join(err, b.Delete(k))
	}
	own := keyServed + strconv.FormatUint(store.Process(s), 10)
	return errors.Join(err, b.Put([]byte(own), []byte(n.Fingerprint())))
}

// finalReceipt is what a quorum says of a transaction in a block that is final.
type finalReceipt struct {
	Tx     common.Hash    `json:"transactionHash"`
	Block  hexutil.Uint64 `json:"blockNumber"`
	Hash   common.Hash    `json:"blockHash"`
	Status hexutil.Uint64 `json:"status"`
	Logs   []struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    hexutil.Bytes  `json:"data"`
	} `json:"logs"`
}

// FinalReceipt finds the receipt of a transaction in a block that cannot be taken back, as a quorum has it; false while
// there is none. It tells whether the transaction succeeded, its block and its logs.
func (n *node) FinalReceipt(ctx context.Context, tx common.Hash) (chain.Receipt, bool, error) {
	none := func(err error) (chain.Receipt, bool, error) { return chain.Receipt{}, false, err }
	if err := n.ready(ctx); err != nil {
		return none(err)
	}
	var head header
	if err := n.pool.AgreedBlock(ctx, &head, "latest"); err != nil {
		return none(err)
	}
	final, err := n.finalBlock(ctx, head)
	if err != nil || final == nil {
		return none(err)
	}
	var r *finalReceipt
	var b *struct {
		Hash common.Hash `json:"hash"`
	}
	if err := n.pool.Agreed(ctx, &r, "eth_getTransactionReceipt", tx); err != nil || r == nil || r.Tx != tx ||
		r.Block > final.Number {
		return none(err)
	}
	err = n.pool.Agreed(ctx, &b, "eth_getBlockByNumber", r.Block, false)
	if err != nil || b == nil || b.Hash != r.Hash {
		return none(err)
	}
	out := chain.Receipt{TxHash: r.Tx, Success: r.Status == 1, Block: uint64(r.Block), BlockHash: r.Hash}
	for _, l := range r.Logs {
		out.Logs = append(out.Logs, chain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
	}
	return out, true, nil
}

// noneFinal is the depth of a chain that has no final block yet.
const noneFinal = 24 * time.Hour

// Depth is how long a block took to become final of late: how far the newest one is ahead of the newest final one.
func (n *node) Depth(ctx context.Context) (time.Duration, error) {
	if n.final.Counted && n.final.Blocks == 0 {
		return 0, nil
	}
	var head header
	if err := n.pool.AgreedBlock(ctx, &head, "latest"); err != nil {
		return 0, err
	}
	final, err := n.finalBlock(ctx, head)
	if err != nil || final == nil {
		return noneFinal, err
	}
	return time.Duration(head.Time-min(head.Time, final.Time)) * time.Second, nil
}
