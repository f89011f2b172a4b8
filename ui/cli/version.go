package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Build holds the facts of this build.
type Build struct {
	Version, Revision, Time, Go string
	Modified                    bool
}

// ReadBuild takes the facts from the program itself.
func ReadBuild() Build {
	b := Build{Version: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (p Program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this program was built from",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := p.Build
			fmt.Fprintf(p.Out, "coffer %s\n", b.Version)
			if b.Revision != "" {
				changed := ""
				if b.Modified {
					changed = ", with local changes"
				}
				fmt.Fprintf(p.Out, "revision %s of %s%s\n", b.Revision, b.Time, changed)
			}
			_, err := fmt.Fprintf(p.Out, "%s %s/%s\n", b.Go, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
