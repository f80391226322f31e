"""Attacks by the network: every way to reach a server, of which four listen in the test."""

from tests.hostile.attack import attack, refused

ATTACKS = [
    attack(
        "TCP",
        """
import socket
def f(x, items):
    return tries(
        lambda: socket.create_connection(('127.0.0.1', TCP), 1), lambda: socket.create_connection(('1.1.1.1', 53), 1),
        lambda: socket.create_connection(('::1', TCP), 1), lambda: socket.socket(),
    )
""",
        refused(4),
    ),
    attack(
        "TCP to this machine",
        "import socket\ndef f(x, items): return tries(lambda: bool(socket.create_connection(('127.0.0.1', TCP), 1)))",
        refused(1),
        bites=True,
    ),
    attack(
        "UDP",
        """
import socket
def f(x, items):
    def send(): return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', UDP))
    return tries(send)
""",
        refused(1),
        bites=True,
    ),
    attack(
        "names looked up",
        """
import socket
def f(x, items):
    return tries(
        lambda: socket.getaddrinfo('example.org', 80), lambda: socket.gethostbyname('example.org'),
        lambda: socket.gethostbyaddr('127.0.0.1'), lambda: socket.getaddrinfo('key.of.mine.example.org', 53),
    )
""",
        refused(4),
    ),
    attack(
        "Unix socket of the machine",
        """
import socket
def f(x, items):
    def connect(where, kind=socket.SOCK_STREAM):
        with socket.socket(socket.AF_UNIX, kind) as s: return s.connect(where)
    return tries(lambda: connect(UNIX))
""",
        refused(1),
        bites=True,
    ),
    attack(
        "abstract Unix socket",
        """
import socket
def f(x, items):
    def connect():
        with socket.socket(socket.AF_UNIX) as s: return s.connect(b'\\0' + ABSTRACT.encode())
    return tries(connect)
""",
        refused(1),
        bites=True,
    ),
    attack(
        "known sockets of the machine",
        """
import socket
def f(x, items):
    names = ['docker.sock', 'dbus/system_bus_socket', 'systemd/private', 'systemd/journal/dev-log', 'nscd/socket']
    def connect(name):
        with socket.socket(socket.AF_UNIX) as s: return s.connect('/run/' + name)
    return tries(*[lambda n=n: connect(n) for n in names])
""",
        refused(5),
    ),
    attack(
        "a server of its own",
        """
import socket, socketserver
def f(x, items):
    return tries(
        lambda: socket.create_server(('127.0.0.1', 0)), lambda: socketserver.UDPServer(('', 0), None),
        lambda: socket.socketpair(), lambda: socket.fromfd(0, socket.AF_UNIX, socket.SOCK_STREAM),
    )
""",
        refused(4),
    ),
    attack(
        "every family and kind of socket",
        """
def f(x, items):
    found = calls(*[('socket', family, kind, 0) for family in range(47) for kind in (1, 2, 3, 5)])
    return [*{*found}, *calls(('socketpair', 1, 1, 0, 0))]
""",
        refused(2),
    ),
    attack(
        "libraries of the web",
        """
import asyncio, http.client, smtplib, urllib.request
def f(x, items):
    def asked():
        connection = http.client.HTTPConnection('127.0.0.1', TCP, timeout=1)
        connection.request('GET', '/')
    return tries(
        asked, lambda: urllib.request.urlopen(f'http://127.0.0.1:{TCP}/', timeout=1).read(),
        lambda: smtplib.SMTP('127.0.0.1', TCP, timeout=1),
        lambda: urllib.request.urlopen('file://' + HOME + '/.env').read(),
    ) + tries(lambda: asyncio.new_event_loop())
""",
        refused(5),
    ),
]
