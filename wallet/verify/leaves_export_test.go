package verify

// PreparedLeaves is the class table of an answer of prepare-call-quote (v3).
func PreparedLeaves() []Leaf { return preparedTable(false) }

// PreparedLeavesV1 is the class table of an answer of prepare-call-quote (v1).
func PreparedLeavesV1() []Leaf { return preparedTable(true) }

// QuoteLeaves is the class table of a quote (v3).
func QuoteLeaves() []Leaf { return quoteTable(false) }

// QuoteLeavesV1 is the class table of a quote (v1).
func QuoteLeavesV1() []Leaf { return quoteTable(true) }

// ExchangeLeaves is the class table of the quote of a swap or a transfer (v3). It is that of a quote, but what is
// delivered is only known within bounds.
func ExchangeLeaves() []Leaf { return exchangeTable(false) }

// ExchangeLeavesV1 is the class table of the quote of a swap or a transfer (v1).
func ExchangeLeavesV1() []Leaf { return exchangeTable(true) }

func exchangeTable(v1 bool) []Leaf {
	return append([]Leaf{
		{"/destinationToken/amount", Bounded, "Q8", formString},
		{"/destinationToken/minimumAmount", Bounded, "Q8", formString},
	}, quoteTable(v1)...)
}

// FindLeaf returns the row of the table that a pointer falls under; of several the first.
func FindLeaf(table []Leaf, pointer string) (Leaf, bool) { return newLeafTree(table).find(pointer) }
