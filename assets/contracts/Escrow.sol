// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Holds what pays for a quote between its funding operation and its settlement (protocol §3.3, §5.1).
///
/// A deposit is keyed by (quote id, depositor) and a key is used once, for ever. The operator releases it to whom the quote
/// names or refunds it; after refundDeadline anyone may refund. A refund goes to the depositor and nowhere else.
contract Escrow {
    using SafeERC20 for IERC20;

    error NotOperator();
    error InvalidAmount();
    error InvalidDeadline();
    error InvalidRecipient();
    error AlreadyDeposited(bytes32 quoteId, address depositor);
    error NotHeld(bytes32 quoteId, address depositor);
    error NotYetRefundable(uint64 refundDeadline);
    error TransferFailed();
    error Reentered();

    event Deposited(
        bytes32 indexed quoteId, address indexed depositor, address indexed token, uint256 amount, uint64 refundDeadline
    );
    event Released(
        bytes32 indexed quoteId, address indexed depositor, address indexed to, address token, uint256 amount
    );
    event Refunded(bytes32 indexed quoteId, address indexed depositor, address token, uint256 amount);

    enum State {
        None,
        Held,
        Released,
        Refunded
    }

    struct Deposit {
        address token; // zero = the native coin
        uint64 refundDeadline; // Unix seconds
        State state;
        uint256 amount;
    }

    address public operator; // slot 0
    mapping(bytes32 quoteId => mapping(address depositor => Deposit)) public deposits; // slot 1
    bool private transient entered;

    constructor(address operator_) {
        operator = operator_;
    }

    modifier nonReentrant() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    /// @param token zero for the native coin, which must then be sent along, exactly amount
    /// @param refundDeadline Unix seconds, in the future; from the second after it anyone may refund
    function deposit(bytes32 quoteId, address token, uint256 amount, uint64 refundDeadline)
        external
        payable
        nonReentrant
    {
        if (amount == 0 || msg.value != (token == address(0) ? amount : 0)) revert InvalidAmount();
        if (refundDeadline <= block.timestamp) revert InvalidDeadline();
        Deposit storage d = deposits[quoteId][msg.sender];
        if (d.state != State.None) revert AlreadyDeposited(quoteId, msg.sender);
        d.token = token;
        d.refundDeadline = refundDeadline;
        d.state = State.Held;
        d.amount = amount;
        emit Deposited(quoteId, msg.sender, token, amount, refundDeadline);
        if (token != address(0)) _pull(IERC20(token), amount);
    }

    /// The operator alone, at any time while the deposit is held.
    function release(bytes32 quoteId, address depositor, address to) external nonReentrant {
        if (msg.sender != operator) revert NotOperator();
        if (to == address(0) || to == address(this)) revert InvalidRecipient();
        Deposit storage d = _held(quoteId, depositor);
        d.state = State.Released;
        emit Released(quoteId, depositor, to, d.token, d.amount);
        _pay(d.token, to, d.amount);
    }

    /// The operator at any time, anyone after the deadline.
    function refund(bytes32 quoteId, address depositor) external nonReentrant {
        Deposit storage d = _held(quoteId, depositor);
        if (msg.sender != operator && block.timestamp <= d.refundDeadline) revert NotYetRefundable(d.refundDeadline);
        d.state = State.Refunded;
        emit Refunded(quoteId, depositor, d.token, d.amount);
        _pay(d.token, depositor, d.amount);
    }

    function _held(bytes32 quoteId, address depositor) private view returns (Deposit storage d) {
        d = deposits[quoteId][depositor];
        if (d.state != State.Held) revert NotHeld(quoteId, depositor);
    }

    /// A token that delivers less than it was asked to would be paid out of the deposits of others.
    function _pull(IERC20 token, uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        if (token.balanceOf(address(this)) - before != amount) revert TransferFailed();
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token != address(0)) {
            IERC20(token).safeTransfer(to, amount);
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert TransferFailed();
    }
}
