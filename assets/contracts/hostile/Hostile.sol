// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "../Types.sol";

/// What a contract does when somebody touches it. It says afterwards what came of its own call.
contract Actor {
    enum Mode {
        Peaceful,
        CallAndGoOn, // makes its call and hides the failure
        CallOrFail, // makes its call; a failure is its own
        Revert,
        BurnGas,
        Flood // reverts with as much data as its gas can pay for
    }

    Mode public mode;
    address public target;
    bytes public data;
    uint256 public tries;
    bytes public answer; // of its last call
    bool public succeeded;

    function set(Mode mode_, address target_, bytes calldata data_) external {
        (mode, target, data) = (mode_, target_, data_);
    }

    function exec(address to, bytes calldata what) external payable returns (bytes memory) {
        (bool ok, bytes memory result) = to.call{value: msg.value}(what);
        _bubble(ok, result);
        return result;
    }

    /// Passes on all the coins it has.
    function pass(address to) external {
        (bool ok,) = to.call{value: address(this).balance}("");
        require(ok);
    }

    function _act() internal {
        if (mode == Mode.Peaceful) return;
        if (mode == Mode.Revert) revert("hostile");
        if (mode == Mode.BurnGas) {
            assembly ("memory-safe") {
                invalid()
            }
        }
        if (mode == Mode.Flood) {
            assembly {
                revert(0, 100000)
            }
        }
        (bool ok, bytes memory result) = target.call(data);
        ++tries;
        (succeeded, answer) = (ok, result);
        if (mode == Mode.CallOrFail) _bubble(ok, result);
    }

    function _bubble(bool ok, bytes memory result) private pure {
        if (ok) return;
        assembly ("memory-safe") {
            revert(add(result, 32), mload(result))
        }
    }
}

/// Takes coins, tokens and refunds in its own way.
contract HostileRecipient is Actor {
    receive() external payable {
        _act();
    }
}

/// An account that agrees to every operation, acts while it validates or while it runs, and does nothing else.
contract HostileAccount is Actor {
    bool public whileValidating;

    function setWhen(bool whileValidating_) external {
        whileValidating = whileValidating_;
    }

    function validateUserOp(PackedUserOperation calldata, bytes32, uint256) external returns (uint256) {
        if (whileValidating) _act();
        return 0;
    }

    function work() external {
        if (!whileValidating) _act();
    }
}

/// A token that keeps a part, moves nothing, answers false or nothing, lies about balances, or acts while it moves.
contract HostileToken is Actor {
    enum Trick {
        None,
        Fee, // a hundredth of what moves is lost
        AnswersFalse,
        AnswersNothing,
        MovesNothing,
        TakesItBack, // from the recipient, at once
        LiesAboutBalances // says that everybody has as much as ever moved
    }

    Trick public trick;
    mapping(address => uint256) private held;
    uint256 public moved;

    function setTrick(Trick trick_) external {
        trick = trick_;
    }

    function mint(address to, uint256 amount) external {
        held[to] += amount;
    }

    function balanceOf(address of_) external view returns (uint256) {
        return trick == Trick.LiesAboutBalances ? moved : held[of_];
    }

    /// What an address has, whatever the token says.
    function truth(address of_) external view returns (uint256) {
        return held[of_];
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        _act();
        if (trick == Trick.AnswersFalse) return false;
        if (trick == Trick.MovesNothing) return true;
        moved += amount;
        if (trick == Trick.LiesAboutBalances) return true;
        held[from] -= amount;
        held[trick == Trick.TakesItBack ? from : to] += trick == Trick.Fee ? amount - amount / 100 : amount;
        if (trick == Trick.AnswersNothing) {
            assembly ("memory-safe") {
                return(0, 0)
            }
        }
        return true;
    }
}
