//! Putting the event together: measurement and judgement of one window in the words of the contract.
