package remotenet

import (
	"context"
	"fmt"

	"coffer/api/networks"
	"coffer/api/service/chain/solana/solnode"
	"coffer/api/service/outbox/landing"
)

// ledger is the Solana chain of a file, whose nodes are used once it was found to begin as the descriptor says.
type ledger struct {
	*solnode.Chain
	name string
	gate gate
}

// openSolana makes the client of the file's Solana chain, if it has one.
func (n *Network) openSolana(ctx context.Context, file *networks.File, o Options) error {
	if file.Solana == nil {
		return nil
	}
	c, err := solnode.Open(ctx, file, o.Credential, o.Log)
	if err != nil {
		return err
	}
	l := &ledger{name: file.Solana.Name}
	l.Chain = &solnode.Chain{Client: c, Ready: l.ready}
	n.ledger, n.Solana = l, l.Chain
	return nil
}

// openLanding opens the way out to the Solana chain.
func (n *Network) openLanding(o Options) {
	if n.ledger != nil {
		n.Outbox.Solana = landing.New(landing.Options{Store: o.Store, Nodes: n.ledger, Log: o.Log, Poll: o.Poll})
	}
}

func (l *ledger) ready(ctx context.Context) error { return l.gate.pass(ctx, l.name, l.differs) }

// differs asks for the first block.
func (l *ledger) differs(ctx context.Context) error {
	first, err := l.Genesis(ctx)
	if err != nil {
		return err
	}
	if first.String() != l.gate.genesis {
		return fmt.Errorf("the first block is %s, the descriptor has %s", first, l.gate.genesis)
	}
	return nil
}
