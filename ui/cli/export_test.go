package cli

import "github.com/spf13/cobra"

// Root is the whole tree of commands, for tests that inspect it.
func (p Program) Root() *cobra.Command {
	root := p.root()
	root.InitDefaultHelpCmd()
	return root
}

// The parts of help and of the pages that tests compare with.
var (
	Reflow      = reflow
	Escape      = escape
	Documented  = documented
	ManName     = manName
	CheckValues = checkValues
)

// HelpWidth is the width of help.
const HelpWidth = helpWidth

// Meant are the words of other wallets.
var Meant = meant
