package chainview

import (
	"context"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Dear is the error of the first of some chains on which nothing can be sent now, because gas costs more there than the
// user's own cap. A chain without a cap or a node, and one that does not answer, is none: whoever sends finds out.
func (v *View) Dear(ctx context.Context, chains []uint64) error {
	for _, dear := range each(ctx, v, chains, func(id uint64) uint64 { return id }, (*chain).gas,
		func(uint64, string) error { return nil }) {
		if dear != nil {
			return dear
		}
	}
	return nil
}

// gas compares the base fee of the next block with the cap.
func (c *chain) gas(ctx context.Context, _ uint64) (dear, err error) {
	if c.dear == nil {
		return nil, nil
	}
	b, err := c.newest(ctx)
	if err != nil {
		return nil, err
	}
	var h struct {
		Base []*hexutil.Big `json:"baseFeePerGas"`
	}
	if err = c.pool.Agreed(ctx, &h, "eth_feeHistory", "0x1", b.Number, []float64{}); err != nil || len(h.Base) == 0 ||
		h.Base[len(h.Base)-1] == nil {
		return nil, err
	}
	return c.dear(h.Base[len(h.Base)-1].ToInt()), nil
}
