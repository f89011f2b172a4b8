// Package devnet makes an installation: its seed and keys, the EVM chains with every contract and token in place, the
// Solana ledger, and the descriptor that says who this network is. Opened again it finds the same installation.
//
// Promise: genesis gives tokens to treasury, faucet and solver, and all coins to the treasury, whose signed transfers
// stock the others in block 1 of each chain; nobody mints, so each token's sum never changes (protocol §5.3). Paymaster
// and escrow stand at addresses that are the same on every network, with this installation's operator in storage
// (protocol §4.2). The same seed and clock give the same head hashes. A first start is all or nothing. Chains that
// began with other contracts or assets than this program makes are an earlier generation: ErrVersion, and OpenEarlier
// reads them. What a catalogue file adds comes to data that exists, and is never taken away (ErrCatalog).
//
// Units: amounts in base units of their asset, times in Unix seconds. Sources: protocol §4.2 and §5.3,
// docs/architecture.md#storage.
package devnet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/assets"
)

// Time is the time of every genesis block: 2024-01-01 00:00:00 UTC in Unix seconds.
const Time uint64 = 1_704_067_200

const (
	bucketInstallation = "installation"
	keySeed            = "seed"
	keyMade            = "made"
	keyAdded           = "added"          // what a catalogue file added so far, a line each
	keyEndowed         = "endowed"        // accounts that genesis endowed, 20 bytes each
	labelInstallation  = "installation/1" // of what tells one embedded network from others with the same chains
)

// made names what this program makes of a seed: it is the id of the network that the seed of the tests gives, which
// covers the hash of every genesis block. Data with this mark begins with what this program would make; the tests fail
// when it is not the id any more. Then it changes, and with the first change after a release generation grows by one.
const made = "0xc6c65a14c976d1903e71877e62a39e35aeede3e9fd22f097bd6680f93b47b9a5"

// generation counts what programs made: data of a higher one is left to a newer program. Marks without a number are
// those of the first.
const generation = 3

// Options say how an installation is opened. Clock gives the time of block 1. The seed of a first start is Seed, or 32
// bytes from Random when Seed is nil. Kind is what the user declares the network to be. Time is that of every genesis
// block, 0 means Time: with another one tests make the network of another generation. Catalog is the file whose chains
// and tokens are added (catalog.With); it need not exist. Endow are the accounts that a first start endows in genesis.
type Options struct {
	Clock   func() time.Time
	Random  io.Reader
	Seed    []byte
	Kind    network.Kind
	Time    uint64
	Catalog string
	Endow   []common.Address
}

var (
	// ErrSeed says that a store holds an installation of another seed than the given one.
	ErrSeed = errors.New("the store holds an installation with another seed")
	// ErrNoSeed says that a store holds chains and no seed: it is damaged, and another seed would not be theirs.
	ErrNoSeed = errors.New("the store holds chains without the seed that they were made from")
	// ErrNewer says that a newer program made the chains of a store. Nothing was changed.
	ErrNewer = errors.New(
		"the data was made by a newer version of this program: use that version, or another data directory")
	// ErrVersion says that a store holds chains of another generation, and no newer one: they began with other
	// contracts or assets than this program makes. Nothing was changed.
	ErrVersion = errors.New("the network of this data began with other contracts or assets than this program makes")
	// ErrCatalog says that a catalogue file lost or changed something that is in use. Nothing was changed.
	ErrCatalog = errors.New("the data has what catalog.json lost or changed: put it back as it was")
)

// Installation is an opened network. Its methods are safe for concurrent use; its fields must not be changed.
type Installation struct {
	signers.Embedded
	*deployment.Network
	Store   store.Store
	Ledger  *solana.Ledger   // what Network.Solana shows; nil in data of a network without Solana
	Endowed []common.Address // by genesis: the Endow of the first start

	seed   []byte
	filler common.Address
	time   uint64 // of every genesis block
}

// Open opens the installation in s, or makes it when there is none.
func Open(s store.Store, o Options) (*Installation, error) {
	stored, err := storedSeed(s)
	if err == nil && stored == nil {
		err = checkEmpty(s)
	}
	if err != nil {
		return nil, err
	}
	seed, err := chooseSeed(stored, o)
	if err != nil {
		return nil, err
	}
	var pins pinned
	var group errgroup.Group
	group.Go(func() (err error) {
		pins, err = readPins()
		return err
	})
	in, err := newInstallation(s, o.Catalog, seed)
	if err = errors.Join(err, group.Wait()); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	in.filler, in.time = pins.Paymaster, cmp.Or(o.Time, Time)
	if in.Endowed, err = endowed(s, stored == nil, o); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if err := in.openChains(s, stored == nil, pins, o); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if err := in.openSolana(s); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	in.Descriptor, err = in.describe(pins, o.Kind)
	return in, err
}

// newInstallation is an installation of a seed without its chains, with the assets of a catalogue file.
func newInstallation(s store.Store, file string, seed []byte) (*Installation, error) {
	var keys signers.Embedded
	var group errgroup.Group
	group.Go(func() (err error) {
		keys, err = signers.Derive(seed)
		return err
	})
	cat, err := catalog.With(file)
	if err = errors.Join(err, group.Wait()); err != nil {
		return nil, err
	}
	in := &Installation{Embedded: keys, Network: deployed(keys, cat), Store: s, seed: seed}
	salt, err := in.Secret("escrow/1", len(in.EscrowSalt))
	if err != nil {
		return nil, err
	}
	in.EscrowSalt, in.Threshold = [32]byte(salt), attesters
	in.BalanceSlots = balanceSlots(cat)
	return in, nil
}

// deployed is the network as it is known before its chains are open.
func deployed(k signers.Embedded, cat *catalog.Catalog) *deployment.Network {
	n := &deployment.Network{
		Catalog: cat, SponsorKey: k.Sponsor.Key(), VaultKey: k.Vault.Key(), SolverKey: k.SolanaSolver.Key(),
		Accounts: map[common.Address]string{k.Faucet.Address(): "faucet", k.Treasury.Address(): "treasury"},
		Keys: map[solmsg.Key]string{
			k.Sponsor.Key(): "sponsor", k.Vault.Key(): "vault", k.SolanaSolver.Key(): "solver",
			k.SolanaFaucet.Key(): "faucet", k.SolanaTreasury.Key(): "treasury",
		},
	}
	for _, c := range cat.Chains() {
		if id, evm := c.Chain.EVMID(); evm {
			n.ChainIDs = append(n.ChainIDs, id)
		}
	}
	slices.Sort(n.ChainIDs)
	return n
}

func storedSeed(s store.Store) (seed []byte, err error) {
	seed, err = store.Get(s, bucketInstallation, []byte(keySeed))
	if err == nil && seed != nil && len(seed) != signers.SeedSize {
		err = fmt.Errorf("genesis: the stored seed has %d bytes, expected %d", len(seed), signers.SeedSize)
	}
	return seed, err
}

// Exists reports whether a store holds an installation.
func Exists(s store.Store) (bool, error) {
	seed, err := storedSeed(s)
	return seed != nil, err
}

// checkEmpty refuses a store without a seed that is not new: seed and chains are made in one commit.
func checkEmpty(s store.Store) error {
	chains, err := evm.Exists(s)
	ledger := false
	if err == nil && !chains {
		ledger, err = solana.Exists(s)
	}
	if err == nil && (chains || ledger) {
		err = fmt.Errorf("genesis: %w", ErrNoSeed)
	}
	return err
}

func chooseSeed(stored []byte, o Options) ([]byte, error) {
	if o.Seed != nil && len(o.Seed) != signers.SeedSize {
		return nil, fmt.Errorf("genesis: a seed has %d bytes, got %d", signers.SeedSize, len(o.Seed))
	}
	switch {
	case stored != nil && o.Seed != nil && !bytes.Equal(stored, o.Seed):
		return nil, fmt.Errorf("genesis: %w", ErrSeed)
	case stored != nil:
		return stored, nil
	case o.Seed != nil:
		return bytes.Clone(o.Seed), nil
	}
	seed := make([]byte, signers.SeedSize)
	if _, err := io.ReadFull(o.Random, seed); err != nil {
		return nil, fmt.Errorf("genesis: draw the seed: %w", err)
	}
	return seed, nil
}

// Secret derives n bytes for another purpose of the service (price walk, cursor key, test funds) from the
// installation's seed. The same label gives the same bytes for the life of the installation.
func (in *Installation) Secret(label string, n int) ([]byte, error) {
	return signers.Secret(in.seed, "coffer/secret/"+label, n)
}

// describe makes the network descriptor of the opened chains.
func (in *Installation) describe(p pinned, kind network.Kind) (network.Descriptor, error) {
	d := network.Descriptor{
		Version: network.Version, Kind: kind, Genesis: map[string]string{}, Formulas: p.formulas,
		Pins: p.Pins,
	}
	d.Pins.Operator, d.Pins.Solver = in.Operator.Address(), p.Paymaster // the filler is both
	d.Pins.CoSigner, d.Pins.TamperProof = in.CoSigner.Address(), in.TamperProof.Address()
	d.Pins.SolanaSponsor, d.Pins.SolanaVault = in.Sponsor.Key().String(), in.Vault.Key().String()
	for _, e := range in.Catalog.Added() {
		if e.Asset.IsNative() {
			d.Added = append(d.Added, e.Asset.Chain.String())
		}
	}
	for _, id := range in.ChainIDs {
		first, ok, err := in.Chains[id].Block(context.Background(), 0)
		if err != nil || !ok {
			return network.Descriptor{}, fmt.Errorf("genesis: first block of eip155:%d (found: %t): %w", id, ok, err)
		}
		name := caip.EVM(id).String()
		d.Chains = append(d.Chains, name)
		d.Genesis[name] = first.Hash.Hex()
	}
	if kind == network.Embedded {
		name, err := in.Secret(labelInstallation, 32)
		if err != nil {
			return network.Descriptor{}, err
		}
		d.Installation = hexutil.Encode(name)
	}
	d.Deployments = []network.Deployment{{From: int64(in.time), Filler: p.Paymaster, Escrow: p.Escrow,
		Attesters: []common.Address{in.Attester.Address()}, Threshold: in.Threshold}}
	return d.WithID()
}

// pinned is pins.json in typed form.
type pinned struct {
	network.Pins
	salt     common.Hash // of EntryPoint through the deterministic deployer
	formulas []network.Formula
}

func readPins() (pinned, error) {
	raw, err := assets.PinnedAddresses()
	if err != nil {
		return pinned{}, err
	}
	p := pinned{salt: common.HexToHash(raw.EntryPointSalt)}
	for _, e := range []struct {
		text string
		into *common.Address
	}{
		{raw.EntryPoint, &p.EntryPoint}, {raw.Paymaster, &p.Paymaster}, {raw.Escrow, &p.Escrow},
		{raw.KernelV31Implementation, &p.KernelV31}, {raw.KernelV33Delegate, &p.KernelV33},
		{raw.Factory, &p.Factory}, {raw.MetaFactory, &p.MetaFactory},
		{raw.ECDSAValidator, &p.ECDSAValidator}, {raw.RoleBasedValidator, &p.RoleBasedValidator},
	} {
		if *e.into, err = caip.ParseAddress(e.text); err != nil {
			return pinned{}, fmt.Errorf("pins: %w", err)
		}
	}
	for _, f := range raw.Formulas {
		at, err := caip.ParseAddress(f.VerifyingContract)
		if err != nil {
			return pinned{}, fmt.Errorf("pins: %w", err)
		}
		p.formulas = append(p.formulas, network.Formula{Name: f.Name, Version: f.Version, VerifyingContract: at,
			Formula: f.Formula})
	}
	return p, nil
}
