// The port behind `microshrub bridge`, over a WebSocket.

import { texts } from "../texts";
import { PortError, type Connect, type Connection, type Take } from "./port";

/** Bytes are the port's; the bridge's only text says that it has the port. */
export function bridge(token: string): Connect {
  return (take) => connected(`ws://${location.host}/bridge?token=${token}`, take);
}

function connected(address: string, take: Take): Promise<Connection> {
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  return new Promise((resolve, reject) => {
    let lose: (why: string) => void = () => undefined;
    const connection: Connection = {
      gone: new Promise((lost) => (lose = lost)),
      write: async (data) => socket.send(new Uint8Array(data)),
      close: async () => {
        lose = () => undefined;
        socket.close();
      },
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === "string") resolve(connection);
      else take(new Uint8Array(data));
    };
    socket.onclose = ({ reason }) => {
      const why = reason || texts.board.bridgeGone;
      lose(why);
      reject(new PortError(why)); // nothing happens if it was there
    };
  });
}
