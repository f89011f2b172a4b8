// Package screen is the contract between the shell and the screens: the interface of a screen, the context that it
// gets, and the messages with which screens ask the shell for something.
//
// Rules: a screen is a plain struct with imperative methods that live on the event loop. Update does no input or output
// and a Cmd changes no state: a Cmd returns a past-tense message that carries a generation, and a message of an older
// generation is dropped. Keys, pastes and mouse events go to the active screen only; every other message goes to all
// screens, which know their own by type. Screens get the time from Context.Clock and Frame.Now, never from package
// time.
package screen

import (
	"cmp"
	"math/big"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/journal"
)

// ID names a screen in the router.
type ID string

// The screens. The first six are tabs in this order; the others open on top of a tab and close with BackMsg.
const (
	Balances ID = "balances"
	Build    ID = "build"
	Activity ID = "activity"
	History  ID = "history"
	Lab      ID = "lab"
	Accounts ID = "accounts"
	Review   ID = "review"
	Wire     ID = "wire"
	Settings ID = "settings"
)

// Tabs lists the tab screens in the order of their number keys.
func Tabs() []ID { return []ID{Balances, Build, Activity, History, Lab, Accounts} }

// Overlays lists the screens that open on top of a tab.
func Overlays() []ID { return []ID{Review, Wire, Settings} }

// Frame is the input of a view: the size of the body in cells, the theme and the time.
type Frame struct {
	W, H  int
	Theme theme.Theme
	Now   time.Time
}

// Screen is one screen of the program.
type Screen interface {
	// Title is one or two words for the tab line and the palette.
	Title() string
	// Init returns the first command, at the start of the program.
	Init() tea.Cmd
	// Update handles one message on the event loop.
	Update(tea.Msg) tea.Cmd
	// View draws the body: exactly Frame.H lines of exactly Frame.W cells (kit.Box makes it so).
	View(Frame) string
	// Keys lists the keys that work now, most useful first; help and the key line derive from it.
	Keys() []kit.Key
	// Capturing reports whether a text field or a dialog has the keyboard: the shell's single-letter keys are off then.
	Capturing() bool
	// Close cancels what is in progress. The program ends after it.
	Close()
}

// Waker is a screen whose view changes with time alone, such as a countdown. Wake is the time until the next change; 0:
// no change. The shell draws again then, and only then.
type Waker interface {
	Wake(now time.Time) time.Duration
}

// Cacher is a screen that shows what it kept of the last time until the service answers. The command of LoadCache, nil
// without one, ends before those of any Init begin: that they all start at once must not slow it down.
type Cacher interface{ LoadCache() tea.Cmd }

// Lister is a screen that opens lists of its own, in which ctrl+p goes up: Listing reports whether one is open.
type Lister interface{ Listing() bool }

// Keeper is a screen with unfinished work: a non-empty reason makes `q` ask once more.
type Keeper interface{ KeepOpen() string }

// Saver is a Keeper that can save its work by itself: the command does so before the program leaves, nil when nothing
// is unsaved.
type Saver interface{ Save() tea.Cmd }

// Context is the input of every screen. It does not change while the program runs. Catalog and Clock must be set (the
// shell sets a missing clock to time.Now).
type Context struct {
	Profile  string // name of the profile
	BaseURL  string // of the service, for display
	Network  network.Descriptor
	Catalog  *catalog.Catalog
	Accounts []api.Account // those in use: one EVM account, and the Solana account
	Own      []present.Own // all of the profile; nil: those in use
	Clock    func() time.Time
	Vault    Vault
	Settings Preferences
	// Keep saves small documents of the screens between starts; nil: nothing is saved.
	Keep Keep
	// Export writes a new file, 0600, whose name derives from name ("history.csv"), and returns its path. It is called
	// from commands. nil: this program cannot export.
	Export func(name string, data []byte) (path string, err error)
	// Terms looks up, by quote id, the terms in the wallet's journal that the person agreed to; Names gives the known
	// name of an address, "" for none. nil: nothing is known.
	Terms    func(quoteID string) (journal.Terms, bool)
	Names    func(address string) string
	Contacts Contacts
	// NoFiles says why no file is read or written where the program runs, because it is not the person's machine; "":
	// it is. Export is nil then.
	NoFiles string
}

// WhyNoFiles is NoFiles, or otherwise when that is empty.
func (c Context) WhyNoFiles(otherwise string) string { return cmp.Or(c.NoFiles, otherwise) }

// Receipts is the source of the facts that the service's records leave out: who got what, and what it cost.
func (c Context) Receipts() present.Receipts {
	return present.Receipts{Catalog: c.Catalog, Accounts: c.Accounts, Terms: c.Terms, Names: c.Names}
}

// Owned are the accounts of the profile, those in use among them.
func (c Context) Owned() []present.Own {
	if c.Own != nil {
		return c.Own
	}
	out := make([]present.Own, len(c.Accounts))
	for i, a := range c.Accounts {
		out[i] = present.Own{Account: a, Used: true}
	}
	return out
}

// Preferences are the person's choices about the screens (configuration, table ui).
type Preferences struct {
	Dust   *big.Int // micro USD: priced holdings below it form their own group; nil: there is no such group
	Hidden bool     // amounts are hidden at the start
	Proxy  string   // the proxy between the program and the service, for display; "": none
}

// Keep is a small store in the data directory of the profile, one document per name. No secret goes there. Both methods
// do input and output: they are called from commands. Load returns nil for a name that was never saved.
type Keep interface {
	Load(name string) ([]byte, error)
	Save(name string, data []byte) error
}

// Vault is the screens' access to the store of keys. Locked, Lock and Touch are called on the event loop, Has from
// commands.
type Vault = present.Vault

// ResizedMsg tells every screen the size of the body in cells.
type ResizedMsg struct{ W, H int }

// OpenMsg asks the shell to show a screen. The screen gets OpenedMsg with the same argument.
type OpenMsg struct {
	Screen ID
	Arg    any
}

// OpenedMsg tells a screen that it is open, with the argument of OpenMsg (nil for a tab key).
type OpenedMsg struct{ Arg any }

// ShownMsg tells a screen that it is on the terminal again: another screen or a panel of the shell was over it.
type ShownMsg struct{}

// BackMsg asks the shell to close a screen that is open on top of a tab, wherever that is, together with the screens
// above it. From is that screen; "" is the visible one.
type BackMsg struct{ From ID }

// AssetArg is the argument of OpenMsg{Build}: an aggregated asset id such as "ob:usdc" and, when known, a chain
// (CAIP-2). Form names the form to open: "transfer", "swap", or "" for calls. To is the recipient of a transfer. With
// neither asset nor recipient a form opens as it was left, that of calls by FormCalls.
type AssetArg struct{ Aggregate, Chain, Form, To string }

// FormCalls is the form of calls in an AssetArg without an asset.
const FormCalls = "call"

// FilterArg is the argument of OpenMsg{Balances} that filters what is listed.
type FilterArg struct{ Text string }

// ToastMsg asks the shell to show one line for a few seconds.
type ToastMsg struct {
	Meaning theme.Meaning
	Text    string
}

// EndedMsg tells the shell that an operation completed, was refunded or failed: what it was, without figures, and how
// it ended.
type EndedMsg struct{ What, Word string }

// CopyMsg asks the shell to put Text on the terminal's clipboard and to say What was sent there, such as "account
// address".
type CopyMsg struct{ What, Text string }

// BalancesChangedMsg says that balances have changed for certain, such as after an operation completed.
type BalancesChangedMsg struct{}

// PastMsg tells every screen the newest records of history, newest first. Whole: there are no older ones; else the list
// ends where it was read to. It is not sent before anything was read.
type PastMsg struct {
	Records []Past
	Whole   bool
}

// Past is a record of history: Deed writes it in a phrase, with every figure as show writes it.
type Past struct {
	At     time.Time // zero: unreadable
	Deed   func(show func(figure string) string, arrow string) string
	Status present.State // the sentence is empty
	Value  *big.Int      // micro USD of what it delivered; nil: unknown
	Left   bool          // what it delivered left the person's accounts
	Paid   string        // the aggregated asset that paid, "": unknown
	Got    string        // the aggregated asset that was delivered, "": unknown, or several
}

// UnderWayMsg tells every screen the operations that have not ended, and the signatures that can still be used.
type UnderWayMsg struct {
	Operations []UnderWay
	Open       []present.Signature
}

// UnderWay is one operation that has not ended: what it is, and how far it got.
type UnderWay struct {
	Since    time.Time
	What     string
	Progress string
	Meaning  theme.Meaning
}

// TotalChangedMsg brings the shell the content of the first line: the total in micro USD (nil is unknown), when it was
// read (zero: never), and whether the last reading failed. Scrambled: the total is made up, for sharing the screen, and
// the first line says so.
type TotalChangedMsg struct {
	Micro     *big.Int
	At        time.Time
	Stale     bool
	Scrambled bool
}

// HideMsg asks the shell to hide the amounts of every screen, or to show them again. The shell keeps the state.
type HideMsg struct{}

// AmountsMsg tells every screen whether amounts are hidden from now on. A review still shows its amounts: the person
// decides on them.
type AmountsMsg struct{ Hidden bool }

// ClickMsg is a click of the left button into the body, in cells of the body. It goes to the active screen only. A
// click may choose and open; it never signs and never confirms.
type ClickMsg struct{ X, Y int }

// SwitchMsg asks the program to leave the dashboard and return with another profile, or, with Setup, to set one up
// first; or, with Account, with another account of this profile, named by its address.
type SwitchMsg struct {
	Profile string
	Setup   bool
	Account string
}

// OfAccounts is an argument of OpenMsg about something that belongs to accounts: the shell opens it only while these
// are in use.
type OfAccounts interface{ Accounts() []api.Account }

// SuspendedMsg tells every screen that the program is about to stop: secrets that were typed are wiped now.
type SuspendedMsg struct{}

// ResumedMsg tells every screen that the program runs again after a suspension.
type ResumedMsg struct{}

// LockedMsg tells every screen that the person locked the keys.
type LockedMsg struct{}

// Send wraps a message into a command.
func Send(m tea.Msg) tea.Cmd { return func() tea.Msg { return m } }

// Open returns the command that asks for a screen.
func Open(id ID, arg any) tea.Cmd { return Send(OpenMsg{Screen: id, Arg: arg}) }

// Toast returns the command that shows one line for a few seconds.
func Toast(m theme.Meaning, text string) tea.Cmd { return Send(ToastMsg{Meaning: m, Text: text}) }

// Copy returns the command that copies text and says what was copied.
func Copy(what, text string) tea.Cmd { return Send(CopyMsg{What: what, Text: text}) }
