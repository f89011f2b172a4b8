package networks

import "fmt"

// Settling is how long a chain's nodes take to call a block final where a person would not wait for it, and a number of
// blocks instead, with how long those take and what they trust.
type Settling struct {
	Takes  string
	Blocks uint64
	About  string
	Trusts string
}

// Slow finds it; false for chains that are quick, or not known here.
func Slow(chainID uint64) (Settling, bool) {
	const sequencer = "the operator of its sequencer to take no block back"
	s, slow := map[uint64]Settling{
		1:     {"13 to 15 minutes", 12, "2 and a half minutes", "that no chain of blocks so long is replaced"},
		10:    {"20 to 30 minutes", 30, "a minute", sequencer},
		8453:  {"20 to 30 minutes", 30, "a minute", sequencer},
		42161: {"15 to 30 minutes", 240, "a minute", sequencer},
		59144: {"hours", 60, "2 minutes", sequencer},
	}[chainID]
	return s, slow
}

// Words are two sentences.
func (s Settling) Words() (takes, instead string) {
	return fmt.Sprintf("%q takes %s here, and a payment is done only then.", finalized, s.Takes),
		fmt.Sprintf("final = %d takes about %s, and trusts %s.", s.Blocks, s.About, s.Trusts)
}
