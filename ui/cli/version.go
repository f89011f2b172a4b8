package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/network"
	"coffer/api/openapi"
	"coffer/assets"
	"coffer/config"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
)

// version is set by the linker in a release: -X coffer/ui/cli.version=v1.2.3. Otherwise the revision that Go recorded
// holds.
var version string

// Build holds the facts of this build. Modified means that the source had changes outside any revision; Sum is the
// hash of the main module, which exists only when the program was built from a module of the module mirror (go install
// coffer@…).
type Build struct {
	Version    string `json:"version"`
	Revision   string `json:"revision,omitempty"`
	Time       string `json:"time,omitempty"`
	Modified   bool   `json:"modified"`
	Go         string `json:"go"`
	Experiment string `json:"goExperiment,omitempty"` // GOEXPERIMENT beyond the default
	// GOOS/GOARCH, with the level of the architecture where Go recorded it: linux/amd64 v1
	Target string `json:"target"`
	Cgo    bool   `json:"cgo"`
	Sum    string `json:"moduleSum,omitempty"`
}

// ReadBuild takes the facts from the program itself.
func ReadBuild() Build {
	b := Build{Version: "unknown", Go: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version, b.Sum = info.Main.Version, info.Main.Sum
		b.settings(info.Settings)
	}
	if version != "" {
		b.Version = version
	}
	return b
}

func (b *Build) settings(all []debug.BuildSetting) {
	for _, s := range all {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GOEXPERIMENT":
			b.Experiment = s.Value
		case "CGO_ENABLED":
			b.Cgo = s.Value == "1"
		case "GOAMD64", "GOARM64":
			b.Target += " " + s.Value
		}
	}
	b.Go, _, _ = strings.Cut(b.Go, " ") // Go's version is followed by its experiments
}

// facts is what `coffer version --json` prints. It leaves out unknown members. Interface is the version of the
// service's interface that this program speaks, the other versions are those of the documents that it reads and
// writes. Assets is the SHA-256 of everything that is shipped inside: chains, assets, addresses, contracts.
type facts struct {
	Build
	Interface string `json:"interface"`
	Intent    int    `json:"intentVersion"`
	Journal   int    `json:"journalVersion"`
	Network   int    `json:"networkVersion"`
	Config    int    `json:"configVersion"`
	Assets    string `json:"assets"`
}

func (p Program) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print what this program was built from",
		Long: `Prints the version, the revision with its time and whether the source had other changes, Go with its
experiments, the target, the version of the service's interface, and a digest of the chains, assets, addresses and
contracts that are shipped inside. docs/release.md tells how to build the same file again.`,
		Example: "  coffer version\n  coffer version --json",
		RunE:    func(*cobra.Command, []string) error { return p.printVersion(asJSON) },
	}
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) printVersion(asJSON bool) error {
	digest, err := assetsDigest(assets.FS)
	if err != nil {
		return err
	}
	if asJSON {
		return PrintJSON(p.Out, facts{Build: p.Build, Interface: openapi.Version, Intent: intent.Version,
			Journal: journal.Version, Network: network.Version, Config: config.SchemaVersion, Assets: digest})
	}
	return p.Build.write(p.Out, digest)
}

func (b Build) write(w io.Writer, digest string) error {
	fmt.Fprintf(w, "coffer %s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with local changes"
		}
		fmt.Fprintf(w, "revision %s of %s%s\n", b.Revision, b.Time, changed)
	}
	experiment := ""
	if b.Experiment != "" {
		experiment = " with " + b.Experiment
	}
	fmt.Fprintf(w, "%s%s %s\n", b.Go, experiment, b.Target)
	if b.Sum != "" {
		fmt.Fprintf(w, "module %s\n", b.Sum)
	}
	_, err := fmt.Fprintf(w, "interface %s, network format %d, shipped data %s\n", openapi.Version, network.Version,
		digest)
	return err
}

// assetsDigest is sha256: and the SHA-256, in hex, over the lines "<SHA-256 of the file>  <name>" of all files in the
// order of their names.
func assetsDigest(files fs.FS) (string, error) {
	all := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(b), path)
		return nil
	})
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), err
}
