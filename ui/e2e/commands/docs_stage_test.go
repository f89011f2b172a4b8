//go:build unix

package commands

// A scene is what a line of a page needs beside the lines before it, or why it is not run.
type scene struct {
	line  string // how the line begins
	under string // its heading; "": any

	not         string   // why it is not run
	needs       string   // a program, without which it is not run
	fresh       bool     // in an empty home, with the lines behind it
	alone       bool     // in an empty home, without them
	stop        bool     // the services of the page are stopped first
	file, block string   // a file, made of the block of a page that begins so
	before      string   // lines typed first
	members     []string // files, made of members of JSON files: "intent of plan.json"
	words       []string // pairs: what the page leaves open, and what it is here (see fills)
	no          bool     // offers are declined
}

// shims are programs that pages take for granted. ssh runs a command as a session on another machine would.
var shims = map[string]string{
	"ssh":  "[ \"$1\" != -t ] || shift\nshift\nexec env SSH_CONNECTION='192.0.2.1 22 192.0.2.2 22' sh -c \"$*\"",
	"pass": "echo " + passphrase,
}

const (
	passphrase = "correct horse battery"
	payee      = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	ada        = "Ada 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

	source = "is about the sources; continuous integration does it"
	value  = "names a flag without its value"
	aJob   = "is a job of continuous integration; ui/e2e/devnet runs it"
	roles  = "needs a role-based account; ui/cli/roles has one"

	// What earlier lines printed.
	key       = `(?m)^New key of .* Its address:\n(0x[0-9a-fA-F]{40})$`
	account   = `(?m)^Added to .* Its address:\n(0x[0-9a-fA-F]{40})$`
	serviceID = `(?m)^id +(\S+)$`
	salt      = `(?m)^salt = "(.*)"`
	operation = `(?m)"operation":"([0-9a-f]{16})"`

	aServiceKey = "coffer serve keys add --company me --project trial"
	list        = "recipient,amount,asset,note\n"
)

// paying is a command that pays some USDC on Base.
func paying(command, usdc string) string {
	return "coffer " + command + ` --chain base --to usdc --function "transfer(address to, uint256 amount)" --arg ` +
		payee + ` --arg "` + usdc + ` USDC" `
}

// plan writes another plan to pay.toml.
func plan(usdc string) string { return paying("plan", usdc) + "--out pay.toml\n" }

// scenes are those of each page, and those of all pages.
var scenes = map[string][]scene{
	"": {
		{line: "go ", not: source},
		{line: "git ", not: source},
		{line: "make ", not: source},
		{line: "GO", not: source},
		{line: "coffer serve --lifetime", not: value},
		{line: "coffer serve --keys", not: value},
		{line: "coffer setup --linear", not: "asks much; ui/e2e/devnet answers"},
		{line: "coffer refund --rpc", not: "needs a payment past its deadline; ui/e2e/devnet has one"},
		{line: "coffer serve --networks", not: "needs what the owner of an operator does; ui/e2e/devnet does it"},
		{line: "coffer attest --networks", not: "needs an operator's network; api/service has one"},
		{line: "coffer serve keys add --data DIR", not: value},
		{line: "coffer profile nodes --add", not: "needs nodes; ui/cli/keys has some"},
		{line: "coffer keys node-key", not: "needs a node that asks for a key; ui/e2e/keys has one"},
	},
	"README.md": {
		{line: "curl ", needs: "curl", words: []string{"KEY", `(?m)^key +(\S+)$`, "curl ", "curl --fail "}},
		{line: "coffer --profile NAME", words: []string{"NAME", "demo"}},
		{line: "coffer verify FILE...", not: "verify.md has files"},
	},
	"benchmarks.md": {{line: "coffer serve --ssh", not: value}},
	"commands.md": {
		{line: "coffer status ID", before: paying("call", "20") + "--yes --accept V4 --json",
			words: []string{"ID", operation}},
		{line: "coffer verify --json", not: "verify.md has files"},
		{line: "coffer pay wages.csv --asset usdc --chain base --dry-run", file: "wages.csv", block: list,
			before: "coffer contacts add " + ada},
		{line: "coffer plan --chain", words: []string{"0x93DB…", payee}},
		{line: "coffer plan FILE", words: []string{"FILE", "pay.toml"}},
		{line: "coffer apply FILE", before: "grep ^salt pay.toml", words: []string{"FILE", "pay.toml", "SALT", salt}},
	},
	"configuration.md": {
		{line: "coffer config check FILE", before: "coffer config example > config.toml",
			words: []string{"FILE", "config.toml"}},
		{line: "coffer profile add NAME", words: []string{"NAME", "name --kind embedded --vault file"}},
		{line: "coffer --linear", fresh: true},
		{line: "coffer completion bash",
			before: "mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions"},
		{line: "coffer completion zsh", words: []string{"${fpath[1]}", "."}},
		{line: "coffer completion powershell", words: []string{"$PROFILE", "profile.ps1"}},
		{line: "coffer serve backup", before: aServiceKey + " --data ./lab"},
		{line: "coffer serve --data ./again", before: "cp -r lab again"},
		{line: "coffer serve keys add --company", stop: true, before: aServiceKey},
		{line: "coffer serve keys rotate", words: []string{"ID", serviceID}},
		{line: "coffer serve keys revoke", words: []string{"ID", serviceID}},
	},
	"devnet.md": {
		{line: "set -e", not: aJob}, {line: "rm ", not: aJob},
		{line: "coffer devnet --json > devnet.json", not: aJob},
		{line: "trap ", not: aJob}, {line: "until ", not: aJob}, {line: "forge ", not: aJob},
		{line: "coffer serve keys add", stop: true, words: []string{"DIR", "./lab"}},
	},
	"networks.md": {
		{line: "coffer network resume", not: "needs a gas tank that stopped; api/service has one"},
		{line: "coffer transfer --asset sol", not: "needs a chain of Solana; ui/e2e/nodes has one"},
		{line: "coffer tank withdraw", not: "needs a gas tank with coins; ui/e2e/devnet has one"},
		{line: "coffer network owner", not: "needs an operator's network; ui/e2e/devnet has one"},
		{line: "coffer network init --kind lab --tokens all --operator", words: []string{"--operator",
			"--out operator.toml --operator"}},
		{line: "coffer devnet", words: []string{"coffer devnet",
			"coffer devnet --listen 127.0.0.1:8545 --service 127.0.0.1:0"}},
	},
	"guide.md": {
		{line: "coffer profile add mine --kind embedded --vault file --default", alone: true},
		{line: "coffer profile add mine", fresh: true},
		{line: "coffer profile add nodes", not: "needs the files of networks.md, which has the line as well"},
		{line: "coffer refund --rpc", not: "needs a payment past its deadline; ui/e2e/devnet takes one back"},
		{line: "coffer keys new", no: true},
		{line: "coffer accounts add", words: []string{"0x522cD0090f1406C3F1A50111687e89256A049992", key}},
		{line: "coffer profile add team", before: "cp lab/network.json lab/ca.pem ."},
		{line: "coffer serve backup FILE", words: []string{"FILE", "copy.db"}},
		{line: "coffer pay wages.csv --asset usdc --chain base --dry-run", file: "wages.csv", block: list,
			before: "coffer contacts add " + ada},
		{line: "coffer apply pay.toml --again", before: "grep ^salt pay.toml", words: []string{"SALT", salt}},
		{line: "coffer plan batch.json", before: "cp ui/cli/check/testdata/batch.json ."},
		{line: "coffer apply pay.toml --yes --json --passphrase-fd",
			before: plan("26") + "echo " + passphrase + " > passphrase-file"},
		{line: "coffer apply pay.toml --yes --json >", before: plan("27")},
		{line: "coffer status 5c1f0a9be2d47710", before: "cat result.json",
			words: []string{"5c1f0a9be2d47710", operation}},
		{line: "coffer apply pay.toml --dry-run --json", before: plan("28") + "cp ~/data/coffer/mine/network.json ."},
		{line: "coffer keys backup keys.age --profile mine", before: "rm keys.age"},
		{line: "coffer keys init", under: "Backup, restore, moving", fresh: true, before: `
			mkdir -p ~/config ~/state ~/data/coffer/mine
			cp -r $OLD/config/coffer ~/config
			cp -r $OLD/state/coffer ~/state
			cp $OLD/data/coffer/mine/coffer.db $OLD/data/coffer/mine/network.json ~/data/coffer/mine
			cp $OLD/clone/keys.age .`},
	},
	"keys.md": {
		{line: "coffer keys new", no: true},
		{line: "coffer accounts add", words: []string{"0x…", key}},
		{line: "coffer accounts rename", words: []string{"ACCOUNT", account, "NAME", "daily"}},
		{line: "coffer accounts default", words: []string{"NAME", "daily"}},
		{line: "coffer accounts remove", words: []string{"ACCOUNT", account}},
		{line: "coffer profile fingerprint network.json", before: "cp ~/data/coffer/mine/network.json ."},
		{line: "coffer keys remove", words: []string{"ADDRESS", key}},
		{line: "coffer keys backup FILE", words: []string{"FILE", "keys.age"}},
		{line: "coffer keys restore FILE", words: []string{"FILE", "keys.age"}},
	},
	"operate.md": {
		{line: "coffer network status", not: "needs an operator's network; ui/e2e/devnet has one"},
		{line: "coffer network rebalance", not: "needs an operator's network; ui/e2e/devnet has one"},
		{line: "coffer network resume", not: "needs a service that stopped; api/service has one"},
		{line: "coffer network owner", not: "needs an operator's network; ui/e2e/devnet has one"},

		{line: "curl --cacert", needs: "curl", words: []string{"curl ", "curl --fail "}},
		{line: "curl http", needs: "curl", words: []string{"curl ", "curl --fail "}},
		{line: "coffer serve keys rotate", words: []string{"ID", serviceID}},
		{line: "coffer serve keys revoke", words: []string{"ID", serviceID}},
		{line: "mv ./lab/coffer.db", stop: true},
	},
	"operator.md":   {{not: "needs anvil and cast; TestThePageOfTheOperator has both"}},
	"postgresql.md": {{not: "needs PostgreSQL; .ci/replicas/run has one"}},
	"release.md": {
		{line: "sha256sum", not: "needs a release; ./.ci/release makes one"},
		{line: "diff", not: "needs a release; ./.ci/release makes one"},
	},
	"ssh.md": {
		{line: "ssh host  ", not: "opens a shell"},
		{line: "pass show coffer", words: []string{"…",
			`--to usdc --function "'transfer(address to, uint256 amount)'" --arg ` + payee +
				` --arg "'20 USDC'" --accept V4`}},
		{line: "cat alice.pub", before: `
			echo "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO0mFdvdThKvt6AYmxh0cKbSGn2Xcv2lDU5UvHVWzhXt" > alice.pub
			echo "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFFSCJQ7mQ0yj5rfS3I3Nmb0Jm2Lw0VnO8xg3uVqKbZ6" > bob.pub`},
		{line: "coffer serve --ssh ADDR", not: value},
		{line: "coffer serve --ssh 127.0.0.1:2222 --profile", not: "needs a second service; ui/e2e/ssh has both"},
		{line: "ssh -p 2222", not: "needs a real client; .ci/ssh/run has one"},
	},
	"threats.md": {{line: "coffer serve --ssh", not: value}},
	"verify.md": {
		{line: "coffer verify FILE...",
			words: []string{"FILE...", "ui/cli/check/testdata/v3-swap-role-based.json --now saved"}},
		{line: "coffer verify intent.json network.json prepared.json  ", before: plan("20") + `
			coffer plan pay.toml --json > plan.json
			coffer apply pay.toml --dry-run --json > looked.json
			cp ~/data/coffer/demo/network.json .`,
			members: []string{"intent of plan.json", "prepared of looked.json"}},
		{line: "coffer verify intent.json network.json prepared.json request.json",
			not: "needs the request that another client sent"},
		{line: "coffer verify bundle.json", before: `
			cp ui/cli/check/testdata/v3-swap-role-based.json bundle.json
			echo "version = 1" > policy.toml`},
		{line: "coffer intent from-safe", before: "cp ui/cli/check/testdata/batch.json ."},
	},
	mentions: {
		{line: "coffer serve export", not: "needs PostgreSQL; .ci/replicas/run has one"},
		{line: "coffer attest", not: "needs an operator's network; api/service has one, and ui/e2e/nodes its keys"},
		{line: "coffer network owner", not: "needs an operator's network; ui/e2e/devnet has one"},
		{line: "coffer tank withdraw", not: "needs a gas tank with coins; ui/e2e/devnet has one"},
		{line: "coffer network status", not: "needs an operator's network; ui/e2e/devnet has one"},
		{line: "coffer accounts list", fresh: true, before: "coffer setup --yes --profile mine"},
		{line: "coffer accounts rotate", not: roles},
		{line: "coffer accounts show", not: roles},
		{line: "coffer accounts undelegate", not: "needs an account with EIP-7702; TestTH_D7_ has one"},
		{line: "coffer activity adopt", not: "needs a journal older than its anchor; ui/e2e/endless has one"},
		{line: "coffer contacts add", words: []string{"add", "add " + ada}},
	},
}
