package solrpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/signers"
)

// maxSame is how many airdrops of one amount to one account fit one block hash.
const maxSame = 1000

// Airdrop sends lamports to an account and returns the signature of the transaction.
type Airdrop func(ctx context.Context, to solmsg.Key, lamports uint64) (signature string, err error)

// AirdropFrom is a faucet with a key: each airdrop is a transaction that it signs. One that would be the same message
// as another gets a memo with a number.
func AirdropFrom(l *ledger.Ledger, key signers.Solana, clock func() time.Time) Airdrop {
	return func(ctx context.Context, to solmsg.Key, lamports uint64) (string, error) {
		for i := range maxSame {
			at := uint64(max(0, clock().Unix()))
			hash, _ := l.RecentHash(at)
			builds := []solmsg.Build{solmsg.SystemTransfer(key.Key(), to, lamports)}
			if i > 0 {
				builds = append(builds, solmsg.Memo(fmt.Sprintf("airdrop %d", i)))
			}
			m, err := solmsg.Compose(key.Key(), hash, builds...)
			if err != nil {
				return "", err
			}
			tx, err := ledger.Sign(ctx, m, key)
			if err != nil {
				return "", err
			}
			out, err := l.Seal(ctx, ledger.SealRequest{Time: at, Txs: []ledger.Tx{tx}, Accept: ledger.AllSucceed})
			if errors.Is(err, ledger.ErrProcessed) {
				continue
			}
			if err != nil {
				return "", err
			}
			return out[0].Signature, nil
		}
		return "", errors.New("too many airdrops of this amount at a time")
	}
}
