package remotenet

import (
	"context"
	"fmt"

	"coffer/api/service/outbox/lane"
)

// LaneState is what is known of the gas tank's lane on a chain; Problem is why not all is.
type LaneState struct {
	lane.Status
	ChainID uint64
	Chain   string
	Problem error
}

// Lanes are those of all chains, in the order of the file.
func (n *Network) Lanes(ctx context.Context) []LaneState {
	out := make([]LaneState, len(n.nodes))
	n.each(func(i int, node *node) {
		s, err := n.lanes[node.ID()].Status(ctx, n.Operator.Address())
		out[i] = LaneState{Status: s, ChainID: node.ID(), Chain: node.name, Problem: err}
	})
	return out
}

// ResumeLane is the decision of the person whose tank it is that a lane which stopped goes on from the chain's nonce.
func (n *Network) ResumeLane(ctx context.Context, chainID uint64) error {
	for _, node := range n.nodes {
		if node.ID() != chainID {
			continue
		}
		if err := node.ready(ctx); err != nil {
			return err
		}
		return n.lanes[chainID].Resume(ctx, n.Operator.Address())
	}
	return fmt.Errorf("the network has no chain %d", chainID)
}
